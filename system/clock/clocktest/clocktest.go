// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clocktest has clocks for tests that must not wait.
package clocktest

import (
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// TimerFunc is a clock.Timer by its only method.
type TimerFunc func(d time.Duration) <-chan time.Time

// After calls f.
func (f TimerFunc) After(d time.Duration) <-chan time.Time { return f(d) }

// Eager is a clock.Timer by which every pause is over at once.
type Eager struct{}

// After returns a channel that can be received from.
func (Eager) After(time.Duration) <-chan time.Time {
	passed := make(chan time.Time, 1)
	passed <- time.Time{}
	return passed
}

// Clock is a clock.Clock made of its two halves.
type Clock struct {
	clock.Timer
	// Time is the present time; nil for the system's.
	Time func() time.Time
}

var _ clock.Clock = Clock{}

// Now returns the present time.
func (c Clock) Now() time.Time {
	if c.Time == nil {
		return time.Now()
	}
	return c.Time()
}
