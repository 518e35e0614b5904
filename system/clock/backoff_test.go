// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package clock_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock"
)

func TestPausesDoubleUpToTheLongestInTheUpperHalf(t *testing.T) {
	t.Parallel()
	ceilings := []time.Duration{100, 200, 400, 800, 1000, 1000}
	seen := map[time.Duration]bool{}
	for range 200 {
		b := clock.NewBackoff(100, 1000)
		for range 2 { // Reset begins again
			for _, ceiling := range ceilings {
				pause := b.Next()
				require.Greater(t, pause, ceiling/2)
				require.LessOrEqual(t, pause, ceiling)
				seen[pause] = true
			}
			b.Reset()
		}
	}
	require.Greater(t, len(seen), 100, "pauses differ")
}

func TestPausesStayInTheirBoundsForAnyNumberOfTries(t *testing.T) {
	t.Parallel()
	for _, tries := range []int{1, 2, 63, 64, 65, 1_000_000} {
		require.Positive(t, clock.Pause(1, math.MaxInt64, tries))
		require.LessOrEqual(t, clock.Pause(time.Second, time.Minute, tries), time.Minute)
	}
	require.LessOrEqual(t, clock.Pause(time.Minute, time.Second, 1), time.Second, "the longest wins")
	require.Equal(t, time.Duration(1), clock.Pause(1, 1, 1))
}

// still is a clock that stands still.
type still struct{}

func (still) After(time.Duration) <-chan time.Time { return nil }

func TestAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	require.ErrorIs(t, clock.Wait(ctx, still{}, time.Second), enough)
	require.ErrorIs(t, clock.NewBackoff(1, 1).Wait(ctx, still{}), enough)
	require.NoError(t, clock.Wait(t.Context(), clock.System{}, 1))
}
