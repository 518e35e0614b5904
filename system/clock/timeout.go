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
	return WithHeldTimeout(parent, timer, d, func() time.Duration { return 0 }, cause)
}

// WithHeldTimeout is WithTimeout for work that may be held, such as by a debugger: the time stands still meanwhile.
// held is how long the work has been held in all so far, up to the present moment.
func WithHeldTimeout(
	parent context.Context, timer Timer, d time.Duration, held func() time.Duration, cause error,
) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(parent)
	var waiting sync.WaitGroup
	before := held()
	waiting.Go(func() {
		if WaitHeld(ctx, timer, d, func() time.Duration { return held() - before }) == nil {
			end(cause)
		}
	})
	return ctx, func() {
		end(context.Canceled)
		waiting.Wait()
	}
}

// WaitHeld is Wait for work that may be held. held is how long it has been held since the wait began.
func WaitHeld(ctx context.Context, timer Timer, d time.Duration, held func() time.Duration) error {
	for waited := time.Duration(0); ; {
		if err := Wait(ctx, timer, d); err != nil {
			return err
		}
		more := held() - waited
		if more <= 0 {
			return nil
		}
		waited, d = waited+more, more
	}
}
