// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestHealthIsAwaitedForAWhile(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Publish(decktest.Problems()[0])
	deck := server.Dial(t)
	none := func(*deckv1.Problem) bool { return false }
	left, err := awaitHealth(t.Context(), deck, time.Second, none)
	require.NoError(t, err)
	require.Len(t, left, 1, "it does not clear")
	left, err = awaitHealth(t.Context(), deck, time.Minute, func(p *deckv1.Problem) bool {
		return p.GetId() == decktest.Problems()[0].GetId()
	})
	require.NoError(t, err)
	require.Empty(t, left, "what is expected does not count")
	go server.Publish(&deckv1.Removed{ProblemId: decktest.Problems()[0].GetId()})
	left, err = awaitHealth(t.Context(), deck, time.Minute, none)
	require.NoError(t, err)
	require.Empty(t, left)
}
