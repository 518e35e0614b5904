// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestTheNextPassIsDueAtTheEarliestTimeThatWasAskedFor(t *testing.T) {
	t.Parallel()
	var pauses []time.Duration
	s := newSchedule(clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
		pauses = append(pauses, d)
		return make(chan time.Time)
	}))
	s.begin()
	require.Nil(t, s.end(nil), "only news calls for a pass")
	s.begin()
	s.within(time.Minute)
	s.within(time.Second)
	s.within(time.Hour)
	require.NotNil(t, s.end(nil))
	require.Equal(t, []time.Duration{time.Second}, pauses)
	s.begin()
	require.Nil(t, s.end(nil), "what an earlier pass asked for does not count")
}

func TestAPassThatFailedIsRepeatedAfterAGrowingPause(t *testing.T) {
	t.Parallel()
	var pauses []time.Duration
	s := newSchedule(clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
		pauses = append(pauses, d)
		return make(chan time.Time)
	}))
	failed := errors.New("failed")
	for range 3 {
		s.begin()
		s.within(time.Millisecond) // which a failure overrules: the control plane would be asked again and again
		require.NotNil(t, s.end(failed))
	}
	s.begin()
	require.Nil(t, s.end(nil))
	s.begin()
	require.NotNil(t, s.end(failed))
	for i, ceiling := range []time.Duration{firstPause, 2 * firstPause, 4 * firstPause, firstPause} {
		require.Greater(t, pauses[i], ceiling/2)
		require.LessOrEqual(t, pauses[i], ceiling)
	}
}
