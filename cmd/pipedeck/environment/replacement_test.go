// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
)

func TestClientsWaitForTheProcessThatTakesThePlaceOfAnotherOne(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	replaced := func(ago time.Duration) {
		require.NoError(t, w.Publish(workspace.Running{PID: 4711, ReplacedAt: time.Now().Add(-ago)}))
	}
	replaced(0)
	require.ErrorIs(t, checkRunning(w), errReplaced, "it still ends")
	require.NoError(t, w.Withdraw())
	lock, err := w.Acquire()
	require.NoError(t, err)
	require.ErrorIs(t, checkRunning(w), errReplaced, "the next one has not published where it listens")
	require.NoError(t, lock.Release())
	require.ErrorIs(t, checkRunning(w), errReplaced, "the next one has not begun")
	require.NoError(t, hasEnded(w))

	for _, ago := range []time.Duration{replacementTime, -time.Hour} {
		replaced(ago)
		require.NoError(t, w.Withdraw())
		require.ErrorIs(t, checkRunning(w), app.ErrEnvironmentGone, "none has come")
		require.ErrorIs(t, hasEnded(w), reader.ErrEnded)
	}
}

func TestAReaderAndARecordingGoOnInTheNextProcess(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	lock, err := w.Acquire()
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Release()) }()
	began := time.Now()
	first, second := decktest.Start(t), decktest.Start(t)
	first.Publish(append(decktest.Running(), &deckv1.Environment{Name: "demo", Restarting: true})...)
	second.Publish(decktest.Running()...)
	process := workspace.Running{PID: 1, Address: first.Address(), StartedAt: began}
	require.NoError(t, w.Publish(process))
	r := &recording{path: filepath.Join(t.TempDir(), "session")}
	require.NoError(t, r.create())
	p := &processes{connection: &connection{workspace: w, recording: r}}
	defer p.connection.close()
	_, err = p.connect(t.Context())
	require.NoError(t, err)
	recorded := func(states int) {
		require.Eventually(t, func() bool { return recordedStates(r.path) == states }, time.Minute, 10*time.Millisecond)
	}
	recorded(1)

	process.ReplacedAt, process.Ends = time.Now(), true
	require.NoError(t, w.Publish(process))
	first.Break()
	next := make(chan error, 1)
	go func() {
		_, err := p.next(t.Context())
		next <- err
	}()
	process = workspace.Running{PID: 2, Address: second.Address(), StartedAt: began.Add(1)}
	require.NoError(t, w.Publish(process))
	require.NoError(t, <-next)
	recorded(2)
	process.Ends = true
	require.NoError(t, w.Publish(process))
	second.Break()
	<-r.ended
	var said bytes.Buffer
	require.NoError(t, r.finish(&said, nil))
	require.NotContains(t, said.String(), "not complete", "its process has ended in order, though it is still there")
}
