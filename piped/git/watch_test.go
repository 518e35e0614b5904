// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock/clocktest"
)

func TestARepositoryOfAServerIsPolledByTheClock(t *testing.T) {
	t.Parallel()
	pauses, passed := make(chan time.Duration, 10), make(chan time.Time)
	r, err := Open(t.Context(), Options{
		ID: "apps", Remote: "https://git.example.com/apps", Branch: "main", Dir: t.TempDir(), Interval: time.Hour,
		Clock: clocktest.TimerFunc(func(d time.Duration) <-chan time.Time {
			pauses <- d
			return passed
		}),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	require.Equal(t, time.Hour, <-pauses)
	require.Empty(t, r.Changed())
	passed <- time.Time{}
	<-r.Changed()
	require.Equal(t, time.Hour, <-pauses)
	cancel()
	require.NoError(t, <-done)
}
