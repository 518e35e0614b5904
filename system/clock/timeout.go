// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"sync"
	"time"
)

// WithTimeout returns a context that ends with the cause after d. cancel ends the wait, and must be called.
func WithTimeout(
	parent context.Context, timer Timer, d time.Duration, cause error,
) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(parent)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if Wait(ctx, timer, d) == nil {
			end(cause)
		}
	})
	return ctx, func() {
		end(context.Canceled)
		waiting.Wait()
	}
}
