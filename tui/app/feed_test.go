// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// pausesOf are the first pauses of a feed that cannot connect.
func pausesOf(t *testing.T, number int) []time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var pauses []time.Duration
	over := make(chan time.Time)
	close(over)
	feed{
		client: func(context.Context) (deckv1.DeckServiceClient, error) { return nil, errors.New("not there") },
		send:   func(tea.Msg) {},
		clock: clock{after: func(d time.Duration) <-chan time.Time {
			if pauses = append(pauses, d); len(pauses) == number {
				cancel()
			}
			return over
		}},
	}.run(ctx)
	return pauses[:number]
}

func TestPausesBeforeConnectingAgainDoubleAndDiffer(t *testing.T) {
	t.Parallel()
	ceilings := []time.Duration{100, 200, 400, 800, 1600, 2000, 2000}
	first := map[time.Duration]bool{}
	for range 50 {
		pauses := pausesOf(t, len(ceilings))
		first[pauses[0]] = true
		for i, ceiling := range ceilings {
			ceiling *= time.Millisecond
			require.Greater(t, pauses[i], ceiling/2)
			require.LessOrEqual(t, pauses[i], ceiling)
		}
	}
	require.Greater(t, len(first), 10, "user interfaces that lost an environment together do not return together")
}
