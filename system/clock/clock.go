// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"time"
)

// Timer notifies when a time has passed.
type Timer interface {
	// After sends once, when d has passed.
	After(d time.Duration) <-chan time.Time
}

// Clock returns the present time and waits.
type Clock interface {
	Timer
	Now() time.Time
}

// System is the system's clock.
type System struct{}

var _ Clock = System{}

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// After is time.After.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Together is the time until the next moment at which everything that is done every d is done, at most d. Waiting for
// that moment wakes the processor up once for all of it.
func Together(now time.Time, d time.Duration) time.Duration {
	return d - time.Duration(now.UnixNano()%int64(d))
}

// Wait returns nil after d, or the cause of the end of ctx if that comes first.
func Wait(ctx context.Context, timer Timer, d time.Duration) error {
	select {
	case <-timer.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Sleep waits and reports whether ctx still runs.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
