// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATurnIsHeldByOneAtATimeAndAWaitForItEndsWithItsContext(t *testing.T) {
	t.Parallel()
	held := newTurn()
	require.NoError(t, held.take(t.Context()))
	require.False(t, held.try())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, held.take(ctx), context.Canceled)
	held.release()
	require.True(t, held.try())
	held.release()
	require.NoError(t, held.take(t.Context()))
}

func TestACleanUpIsDueAfterSoManyLoadsAndWhenItIsRequested(t *testing.T) {
	t.Parallel()
	l := newLoads(3)
	for range 2 {
		l.add()
	}
	require.Empty(t, l.due)
	l.add()
	require.Len(t, l.due, 1)
	for range 6 {
		l.add() // no one waits for a clean-up that is requested already
	}
	<-l.due
	require.Empty(t, l.due)
	l.request()
	l.request()
	<-l.due
	require.Empty(t, l.due)
}
