// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/process"
)

func TestAProcessThatNeverWorkedIsGivenUp(t *testing.T) {
	t.Parallel()
	c := process.Crashes{Limit: 2, Window: time.Minute, Pause: time.Second, Longest: 90 * time.Second}
	now := time.Unix(1, 0)
	for want := 1; want <= 2; want++ {
		recent, pause, giveUp := c.Ended(now)
		require.Equal(t, want, recent)
		require.LessOrEqual(t, pause, time.Duration(want)*time.Second, "the ceiling doubles")
		require.Greater(t, pause, time.Duration(want)*time.Second/2)
		require.False(t, giveUp)
	}
	_, _, giveUp := c.Ended(now)
	require.True(t, giveUp)
}

func TestAProcessThatWorkedIsStartedAgainAfterAGrowingPause(t *testing.T) {
	t.Parallel()
	c := process.Crashes{Limit: 1, Window: time.Minute, Pause: time.Second, Longest: 3 * time.Second}
	c.Ready()
	now := time.Unix(1, 0)
	for range 10 {
		_, pause, giveUp := c.Ended(now)
		require.False(t, giveUp)
		require.LessOrEqual(t, pause, 3*time.Second)
	}
	recent, pause, _ := c.Ended(now.Add(2 * time.Minute))
	require.Equal(t, 1, recent, "the others are long ago")
	require.LessOrEqual(t, pause, time.Second)
}
