// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/app"
)

func TestAKilledEnvironmentIsDistinguishedFromOneThatEndedAndOneThatRuns(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	require.ErrorIs(t, checkRunning(w), app.ErrEnvironmentGone, "it never ran")
	lock, err := w.Acquire()
	require.NoError(t, err)
	flags := &Flags{samples: []string{"hello-world"}, live: true}
	command, err := flags.restart(nil)
	require.NoError(t, err)
	require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: "127.0.0.1:1", Restart: command}))
	require.NoError(t, checkRunning(w))

	require.NoError(t, lock.Release(), "the kernel does that when the process is killed")
	err = checkRunning(w)
	require.ErrorIs(t, err, app.ErrEnvironmentStopped)
	require.ErrorContains(t, err, "its process 4711 was killed")
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.NotStarted, failure.Code)
	require.Contains(t, failure.Hint, "pipedeck up --name demo")
	published, err := w.Published()
	require.NoError(t, err)
	require.Equal(t, []string{"--sample=hello-world", "--live", "--"}, published.Restart.Arguments)
	require.DirExists(t, published.Restart.Directory)

	require.NoError(t, w.Withdraw())
	require.ErrorIs(t, checkRunning(w), app.ErrEnvironmentGone, "it has ended in order")
	_, err = startAgain(w)
	require.ErrorContains(t, err, "start environment \"demo\" again")
}

func TestTheEndOfAKilledHostNamesItsCauseAndTheCommandThatStartsItAgain(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	flags := &Flags{samples: []string{"hello-world"}}
	command, err := flags.restart(nil)
	require.NoError(t, err)
	h := newHost(w, command, "host.log")
	killed := exec.Command("sh", "-c", "kill -9 $$")
	require.NoError(t, killed.Start())
	h.follow(io.NopCloser(strings.NewReader("")), killed)
	<-h.ended
	var failure *exit.Error
	require.ErrorAs(t, h.err, &failure)
	require.ErrorContains(t, h.err, "the environment's process ended: signal: killed")
	require.Contains(t, failure.Hint, "start it again, it goes on where it was: pipedeck up --name demo")
	require.Contains(t, failure.Hint, "--sample=hello-world")
	require.Contains(t, failure.Hint, "its last words are in host.log")
	require.Equal(t, h.err, h.failure(), "it was still starting")
}

func TestTheUIStaysWhenItsHostIsKilled(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	for name, c := range map[string]struct {
		script, said string
		stays        bool
	}{
		"killed":                 {"kill -9 $$", `{"address": "127.0.0.1:1"}`, true},
		"killed at the start":    {"kill -9 $$", "", false},
		"ended by itself":        {"exit 2", `{"address": "127.0.0.1:1"}`, false},
		"ended with a last word": {"kill -9 $$", `{"address": "127.0.0.1:1"} {"error": "broken"}`, false},
	} {
		h := newHost(w, &workspace.Restart{}, "host.log")
		process := exec.Command("sh", "-c", c.script)
		require.NoError(t, process.Start())
		h.follow(io.NopCloser(strings.NewReader(c.said)), process)
		<-h.ended
		require.Error(t, h.err, name)
		require.Equal(t, c.stays, h.failure() == nil, name)
	}
}

func TestAStoryIsPlayedAgainAfterItsHostWasKilled(t *testing.T) {
	t.Parallel()
	w := environment(t, t.TempDir(), "demo")
	command, err := (&Flags{samples: []string{"hello-world"}}).restart(nil)
	require.NoError(t, err)
	command.Arguments = append([]string{"--keep=false", leashFlag}, command.Arguments...)
	h := newHost(w, command, "host.log")
	killed := exec.Command("sh", "-c", "kill -9 $$")
	require.NoError(t, killed.Start())
	h.follow(io.NopCloser(strings.NewReader(`{"address": "127.0.0.1:1"}`)), killed)
	<-h.ended
	var failure *exit.Error
	require.ErrorAs(t, h.err, &failure)
	require.ErrorContains(t, h.err, "the environment's process ended: signal: killed")
	require.Equal(t, "play the story again", failure.Hint)
	require.Equal(t, h.err, h.failure(), "its environment ends with the UI, which cannot start it again")
	require.Equal(t, exit.Failed, failure.Code)
}
