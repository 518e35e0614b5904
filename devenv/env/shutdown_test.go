// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/chantest"
)

func TestAnEnvironmentThatEndsForAnotherProcessSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	r := up(t, options(w))
	client := deck(t, w, r.address)
	stream, err := client.Watch(t.Context(), &deckv1.WatchRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	_, err = client.Shutdown(t.Context(), &deckv1.ShutdownRequest{Restart: true})
	require.NoError(t, err)
	said := false
	for response, err := stream.Recv(); err == nil; response, err = stream.Recv() {
		for _, event := range response.GetEvents() {
			said = said || event.GetEnvironment().GetRestarting()
		}
	}
	require.True(t, said)
	require.NoError(t, chantest.Receive(t, r.ended))
	_, err = w.Published()
	require.ErrorIs(t, err, os.ErrNotExist, "it was not killed")
	last, err := w.LastRun()
	require.NoError(t, err)
	require.False(t, last.ReplacedAt.IsZero())
	require.True(t, last.Ends)

	again := up(t, options(w))
	last, err = w.Published()
	require.NoError(t, err)
	require.True(t, last.ReplacedAt.IsZero(), "the next process is there")
	require.False(t, last.Ends)
	again.stop()
	require.NoError(t, chantest.Receive(t, again.ended))
	last, err = w.LastRun()
	require.NoError(t, err)
	require.True(t, last.ReplacedAt.IsZero(), "none follows")
	require.True(t, last.Ends)
}
