// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"time"

	"github.com/pipedeck/pipedeck/system/clock"
)

// schedule knows when the next pass is due if no news comes before.
type schedule struct {
	timer   clock.Timer
	backoff *clock.Backoff
	// due is the time until the pass after this one; 0 when none is needed.
	due time.Duration
}

func newSchedule(timer clock.Timer) *schedule {
	return &schedule{timer: timer, backoff: clock.NewBackoff(firstPause, longestPause)}
}

// begin begins a pass, which may ask for the next one.
func (s *schedule) begin() { s.due = 0 }

// within asks for another pass in d, unless another call asks for an earlier one.
func (s *schedule) within(d time.Duration) {
	if s.due == 0 || d < s.due {
		s.due = d
	}
}

// end ends a pass. The channel sends when the next one is due; it is nil when only news calls for one. A pass that
// failed is repeated after a pause, which grows as long as passes fail.
func (s *schedule) end(err error) <-chan time.Time {
	if err != nil {
		return s.timer.After(s.backoff.Next())
	}
	s.backoff.Reset()
	if s.due <= 0 {
		return nil
	}
	return s.timer.After(s.due)
}
