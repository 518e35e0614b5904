// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARecordedSessionShowsThatItsEnvironmentWasKilled(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	recorded := filepath.Join(t.TempDir(), "recorded.pipedeck")
	repo := repository(t, map[string]string{"shop/app.pipecd.yaml": greets("shop")})
	ui := openTerminal(t, e.command("up", repo, "--cluster", "none", "--record", recorded), 120, 30)
	e.awaitDeployment("shop", "SUCCESS")
	for range 2 {
		ui.sees(`4 parts, 3 plugins ready`)
		e.kill()
		ui.sees("The environment has stopped: its process was killed.")
		ui.presses("u")
		ui.loses("has stopped")
		require.Eventually(t, e.running, time.Minute, 50*time.Millisecond)
	}
	ui.sees(`4 parts, 3 plugins ready`)
	require.Zero(t, e.pipedeck("down").Code)
	require.Zero(t, ui.wait())

	const killed = "problem      environment  DEGRADED  the process of the environment was killed\n"
	r := e.pipedeck("replay", recorded, "--output", "plain")
	require.Zero(t, r.Code, r.Stderr)
	require.Empty(t, r.Stderr, "the session is complete")
	require.Equal(t, 2, strings.Count(r.Stdout, killed), r.Stdout)
	require.Equal(t, 2, strings.Count(r.Stdout, "problem      environment  CLEARED\n"), r.Stdout)
	require.Equal(t, 2, strings.Count(r.Stdout, "; took over from pid "), r.Stdout)

	replay := openTerminal(t, e.command("replay", recorded), 120, 30)
	for range 2 {
		replay.sees(`The environment has stopped: its process was killed\.\s`)
		replay.presses(" ")
		replay.sees(`✗ stopped(?s:.*)paused 1x`)
		replay.presses("u")
		replay.sees(`this is a recorded session`)
		replay.presses(" ")
		replay.loses(`✗ stopped`)
	}
	replay.presses("q")
	require.Zero(t, replay.wait())
}

func TestAFilmOfAKilledEnvironmentIsNotComplete(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"shop/app.pipecd.yaml": greets("shop")})
	s := e.start("up", repo, "--cluster", "none")
	s.await("the deployment", deployed("shop", "SUCCESS"))
	cast := filepath.Join(t.TempDir(), "film.cast")
	film := e.command("export", "--cast", cast, "--for", "10m")
	temporary, said := t.TempDir(), &strings.Builder{}
	film.Env = append(film.Environ(), "TMPDIR="+temporary)
	film.Stdout = said
	require.NoError(t, film.Start())
	require.Eventually(t, func() bool {
		recordings, err := filepath.Glob(filepath.Join(temporary, "pipedeck-film-*", "session"))
		require.NoError(t, err)
		if len(recordings) == 0 {
			return false
		}
		info, err := os.Stat(recordings[0])
		return err == nil && info.Size() > 500 // it has more than its header
	}, time.Minute, 50*time.Millisecond)
	e.kill()
	_ = film.Wait()
	require.Equal(t, 3, film.ProcessState.ExitCode())
	require.Equal(t, "not complete: the process of the environment was killed\nwrote "+cast+"\n", said.String())
	require.FileExists(t, cast)
	s.wait()
}
