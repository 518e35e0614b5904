// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func newWatch(s *signals, pipedID string) *PipedWatch {
	w := &PipedWatch{signals: s, id: pipedID, restarts: map[string]struct{}{}, wake: make(chan struct{}, 1)}
	s.add(w)
	return w
}

func TestSignalsReachTheWatchesOfTheirPipedOnly(t *testing.T) {
	t.Parallel()
	s := newSignals()
	one, two, other := newWatch(s, "a"), newWatch(s, "a"), newWatch(s, "b")

	s.mark("a", commandsChanged)
	s.mark("a", eventsChanged)
	require.True(t, s.restart("a", "wait"))
	require.False(t, s.restart("c", "wait"), "it has no watch")
	for _, w := range []*PipedWatch{one, two} {
		dirty, err := w.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, Dirty{Commands: true, Events: true, RestartPlugins: []string{"wait"}}, dirty)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, w := range []*PipedWatch{one, two, other} {
		_, err := w.Next(stopped)
		require.ErrorIs(t, err, context.Canceled, "nothing is marked twice, or for another piped")
	}

	s.remove(one)
	require.True(t, s.connected("a"))
	s.remove(two)
	require.False(t, s.connected("a"))
	s.markAll(allChanged)
	dirty, err := other.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, Dirty{Applications: true, Commands: true, Deployments: true, Events: true, RestartPlugins: nil},
		dirty)
	require.Equal(t, Dirty{}, one.lists, "it is not connected any more")
}
