// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// greets is an application that logs a line.
func greets(name string) string {
	return application(name, `  planner: {alwaysUsePipeline: true}
  pipeline:
    stages:
      - id: greet
        name: SCRIPT_RUN
        with: {run: echo hello from the past}
`)
}

func TestASessionIsRecordedReplayedAndExported(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := t.TempDir()
	recorded, exported := filepath.Join(dir, "recorded.pipedeck"), filepath.Join(dir, "exported.pipedeck")
	repo := repository(t, map[string]string{"shop/app.pipecd.yaml": greets("shop")})
	s := e.start("up", repo, "--cluster", "none", "--record", recorded)
	s.await("the deployment", deployed("shop", "SUCCESS"))

	ui := openTerminal(t, e.command("attach", "--read-only"), 120, 30)
	ui.sees(`SUCCESS`)
	ui.presses("s")
	ui.sees(`cannot deploy the newest commit: it was opened with --read-only`)
	ui.presses("q")
	require.Zero(t, ui.wait(), "it leaves without a question")

	r := e.pipedeck("export", exported)
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "pipedeck replay "+exported)
	r = e.pipedeck("export", exported)
	require.Equal(t, 2, r.Code, "no file is replaced")
	require.Contains(t, r.Stderr, exported+" exists already\nnext step: choose another name, or remove the file")
	s.interrupt()
	_, code := s.wait()
	require.Equal(t, 130, code)

	stopped := filepath.Join(dir, "stopped.pipedeck")
	r = e.pipedeck("export", stopped, "-o", "json")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, `"running": false`)
	require.Contains(t, r.Stdout, `"deployments": 1`)
	const without = "exported after the environment had stopped, without plugins and live resources"
	require.Contains(t, r.Stdout, without)
	printed(t, e, stopped, "pipedeck: the session is not complete: "+without+"\n")

	printsAll(t, e, recorded, exported)
	playsToTheEnd(t, e, recorded)
	damagedIsPlayedAsFarAsItGoes(t, e, recorded)
	r = e.pipedeck("replay", filepath.Join(repo, "shop/app.pipecd.yaml"))
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, "is not a recorded session\nnext step: ")
}

func printsAll(t *testing.T, e *environment, files ...string) {
	t.Helper()
	for _, file := range files {
		printed(t, e, file, "")
	}
}

// printed requires that a session has the deployment, and that its printing says this on standard error.
func printed(t *testing.T, e *environment, file, said string) {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	r := e.pipedeck("replay", file, "--output", "plain")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "hello from the past")
	require.Contains(t, r.Stdout, "SUCCESS")
	require.Equal(t, said, r.Stderr)
}

func playsToTheEnd(t *testing.T, e *environment, recorded string) {
	t.Helper()
	replay := openTerminal(t, e.command("replay", recorded, "--paused"), 120, 30)
	require.NotContains(t, replay.sees(`paused 1x +0:0\d of `), "hello from the past", "it has not happened yet")
	for range 30 {
		replay.presses("]")
	}
	replay.sees(`ended 1x`)
	replay.sees(`hello from the past`)
	replay.sees(`✓ SUCCESS`)
	replay.presses(",,,,,,")
	replay.loses(`SUCCESS`)
	replay.presses("R")
	replay.sees(`cannot deploy the same commit again: this is a recorded session`)
	replay.presses("q")
	require.Zero(t, replay.wait())

}

func damagedIsPlayedAsFarAsItGoes(t *testing.T, e *environment, recorded string) {
	t.Helper()
	whole, err := os.ReadFile(recorded)
	require.NoError(t, err)
	damaged := filepath.Join(t.TempDir(), "damaged.pipedeck")
	require.NoError(t, os.WriteFile(damaged, whole[:len(whole)-10], 0o600))
	r := e.pipedeck("replay", damaged, "--output", "json")
	require.Zero(t, r.Code)
	require.Equal(t, "pipedeck: the session is not complete: the file ends in the middle of a record\n", r.Stderr)
}
