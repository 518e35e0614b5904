// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestARecordingGoesOnAfterTheEnvironmentWasKilled(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	r := &recording{path: filepath.Join(t.TempDir(), "session")}
	require.NoError(t, r.create())
	recordUntilKilled := func(states int) {
		server := decktest.Start(t)
		server.Publish(decktest.Running()...)
		lock, err := w.Acquire()
		require.NoError(t, err)
		require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: server.Address()}))
		r.begin(t.Context(), w)
		r.begin(t.Context(), w) // as after a short loss of the connection
		require.Eventually(t, func() bool { return recordedStates(r.path) == states }, time.Minute,
			10*time.Millisecond)
		require.NoError(t, lock.Release(), "the kernel does that when the process is killed")
		server.Break()
		<-r.ended
	}
	recordUntilKilled(1)
	recordUntilKilled(2)
	var said bytes.Buffer
	require.NoError(t, r.finish(&said, nil))
	require.Contains(t, said.String(), "is not complete: the process of the environment was killed\n")
	recorded, err := openSession(r.path)
	require.NoError(t, err)
	require.Equal(t, "the process of the environment was killed", recorded.Missing)
	require.Equal(t, []string{"stopped: the process of the environment was killed", "",
		"stopped: the process of the environment was killed"}, connections(recorded))
}

// connections are why the connection of a recording was lost, and an empty text where it was there again. A loss whose
// reason was found a moment later counts with that.
func connections(recorded *sessionfile.Session) (all []string) {
	for _, record := range recorded.Records {
		c := record.GetEvent().GetConnection()
		switch {
		case c == nil, c.GetLost() == recorder.ErrLost.Error():
		case c.GetStopped():
			all = append(all, "stopped: "+c.GetLost())
		default:
			all = append(all, c.GetLost())
		}
	}
	return all
}

func TestARecordingThatEndsWithAKilledEnvironmentIsNotComplete(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	r := &recording{path: filepath.Join(t.TempDir(), "session")}
	require.NoError(t, r.create())
	server := decktest.Start(t)
	lock, err := w.Acquire()
	require.NoError(t, err)
	require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: server.Address()}))
	r.begin(t.Context(), w)
	require.Eventually(t, func() bool { return recordedStates(r.path) == 1 }, time.Minute, 10*time.Millisecond)
	r.stop() // as the UI of a story does, which ends with the process that it has started
	<-r.ended
	require.NoError(t, lock.Release())
	r.end()
	require.NoError(t, w.Withdraw(), "the command removes the environment before it ends")
	var said bytes.Buffer
	require.NoError(t, r.finish(&said, nil))
	require.Contains(t, said.String(), "is not complete: the process of the environment was killed\n")
	recorded, err := openSession(r.path)
	require.NoError(t, err)
	require.Equal(t, "the process of the environment was killed", recorded.Missing)
	require.Equal(t, []string{"stopped: the process of the environment was killed"}, connections(recorded))
}

// recordedStates is how many states of an environment a file has whole.
func recordedStates(path string) (states int) {
	recorded, err := openSession(path)
	if err != nil {
		return 0
	}
	for _, record := range recorded.Records {
		if record.GetEvent().GetSynced() != nil {
			states++
		}
	}
	return states
}

func TestARecordingOfAnEnvironmentThatEndsInOrderIsComplete(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	r := &recording{path: filepath.Join(t.TempDir(), "session")}
	require.NoError(t, r.create())
	server := decktest.Start(t)
	lock, err := w.Acquire()
	require.NoError(t, err)
	require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: server.Address()}))
	r.begin(t.Context(), w)
	require.Eventually(t, func() bool { return recordedStates(r.path) == 1 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, w.Withdraw())
	require.NoError(t, lock.Release())
	server.Break()
	<-r.ended
	var said bytes.Buffer
	require.NoError(t, r.finish(&said, nil))
	require.NotContains(t, said.String(), "not complete")
	recorded, err := openSession(r.path)
	require.NoError(t, err)
	require.Empty(t, recorded.Missing)
}
