// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clock waits for time to pass, where no event can be waited for. docs/clocks.md lists its callers.
package clock

import (
	"context"
	"time"
)

// Pause waits and reports whether ctx still runs.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
