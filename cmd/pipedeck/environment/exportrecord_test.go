// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestARecordingOfTheTerminalSaysThatTheEnvironmentWasKilled(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{0, time.Hour} {
		w := environment(t, t.TempDir(), "demo")
		_, err := w.Keys().EnsureSecrets()
		require.NoError(t, err)
		server := decktest.Start(t)
		server.Publish(decktest.Running()...)
		lock, err := w.Acquire()
		require.NoError(t, err)
		require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: server.Address()}))
		path := filepath.Join(t.TempDir(), "session")
		file, err := createSession(path)
		require.NoError(t, err)
		type end struct {
			cut cutShort
			err error
		}
		ended := make(chan end, 1)
		go func() {
			cut, err := recordFor(t.Context(), w, file, length)
			ended <- end{cut, err}
		}()
		require.Eventually(t, func() bool { return recordedStates(path) == 1 }, time.Minute, 10*time.Millisecond)
		require.NoError(t, lock.Release(), "the kernel does that when the process is killed")
		server.Break()
		got := <-ended
		require.NoError(t, got.err)
		require.Equal(t, "the process of the environment was killed", got.cut.missing)
		failure := (*exit.Error)(nil)
		require.ErrorAs(t, got.cut.failure, &failure)
		require.Equal(t, exit.NotStarted, failure.Code)
		require.Contains(t, failure.Error(), `environment "demo" has ended: its process 4711 was killed`)
		recorded, err := openSession(path)
		require.NoError(t, err)
		require.Equal(t, 1, recordedStates(path), "what was recorded stays")
		require.Equal(t, got.cut.missing, recorded.Missing)
		_, err = file.close()
		require.NoError(t, err)
	}
}

func TestARecordingOfTheTerminalThatEndsEarlySaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		// says is what is said on standard output, fails on standard error.
		says, fails string
	}{
		"for a time": {[]string{"--for", "1h"}, exit.NotStarted,
			"not complete: the environment ended after 0s of 1h0m0s\n",
			": the environment ended after 0s of 1h0m0s"},
		"as long as there is something": {nil, exit.OK, "not complete: the environment has ended\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			server.End()
			cast := filepath.Join(t.TempDir(), "a.cast")
			code, stdout, stderr := clitest.Run(t.Context(), Commands, clitest.Running(t, server.Address()),
				append([]string{"export", "--cast", cast}, c.args...)...)
			require.Equal(t, c.code, code, stderr)
			if c.fails == "" {
				require.Empty(t, stderr)
			}
			require.Contains(t, stderr, c.fails)
			require.Equal(t, c.says+"wrote "+cast+"\n", stdout)
			require.FileExists(t, cast)
		})
	}
}
