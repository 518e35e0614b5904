// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock"
)

func TestASleepEndsWithItsTimeOrItsContext(t *testing.T) {
	t.Parallel()
	require.True(t, clock.Sleep(t.Context(), time.Nanosecond))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, clock.Sleep(ctx, time.Hour))
	require.False(t, clock.Sleep(ctx, 0), "the caller has to end, too, when both have happened")
}

func TestWhatIsDoneTogetherIsDoneAtTheSameMoments(t *testing.T) {
	t.Parallel()
	moment := time.Unix(100, 0)
	require.Equal(t, 5*time.Second, clock.Together(moment, 5*time.Second))
	require.Equal(t, time.Second, clock.Together(moment.Add(4*time.Second), 5*time.Second))
	require.Equal(t, time.Nanosecond, clock.Together(moment.Add(-time.Nanosecond), 5*time.Second))
	require.Equal(t, 20*time.Millisecond, clock.Together(moment, 20*time.Millisecond))
}
