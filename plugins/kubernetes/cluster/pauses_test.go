// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPausesDoubleWithJitterAndHaveNoEnd(t *testing.T) {
	t.Parallel()
	pauses, seen := Pauses(time.Second, 5*time.Second), map[time.Duration]bool{}
	for _, want := range []time.Duration{1, 2, 4, 5, 5, 5, 5, 5, 5, 5} {
		pause := pauses.Step()
		require.GreaterOrEqual(t, pause, want*time.Second)
		require.LessOrEqual(t, float64(pause), float64(want*time.Second)*(1+jitter))
		seen[pause] = true
	}
	require.Greater(t, len(seen), 5, "pauses differ")
}

func TestAWaitEndsWithItsPauseOrItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		pauses, began := Pauses(time.Minute, time.Hour), time.Now()
		require.NoError(t, Wait(ctx, pauses))
		require.GreaterOrEqual(t, time.Since(began), time.Minute)
		cancel(enough)
		require.ErrorIs(t, Wait(ctx, pauses), enough)
	})
}
