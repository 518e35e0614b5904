// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

func TestACommandNamesItsEnvironmentAndItsCodeIsReturned(t *testing.T) {
	t.Parallel()
	e := drive.Environment{
		Bin: t.TempDir(), StateDir: filepath.Join(t.TempDir(), "state"), Name: "n", Variables: []string{"WORD=hello"},
	}
	program := filepath.Join(e.Bin, "pipedeck")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho $WORD \"$@\"\necho no >&2\nexit 5\n"), 0o755))
	result, err := drive.Run(e.Command(t.Context(), "status"))
	require.NoError(t, err)
	require.Equal(t, drive.Result{
		Stdout: "hello status --name n --state-dir " + e.StateDir + "\n", Stderr: "no\n", Code: 5,
	}, result)
	require.Equal(t, filepath.Join(e.StateDir, "n", "logs"), e.Dir("logs"))

	require.NoError(t, os.Remove(program))
	_, err = drive.Run(e.Command(t.Context(), "status"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = drive.Git(t.Context(), t.TempDir(), "log")
	require.ErrorContains(t, err, "git log")
}

func TestEventsComeInOrderUntilTheEndOfTheCommand(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `echo '{"type":"stage","app":"web","at":"2026-01-02T03:04:05Z"}'; echo oops`)
	events, err := drive.Open(cmd)
	require.NoError(t, err)
	first, second := <-events, <-events
	require.True(t, first.Is("stage", "app", "web"))
	require.False(t, first.Is("stage", "app", "api"))
	require.False(t, first.Is("deployment"))
	require.Equal(t, 2026, first.Time("at").Year())
	require.False(t, first.At.IsZero())
	require.Equal(t, "oops", second.Text("line"))
	_, open := <-events
	require.False(t, open)
	require.NoError(t, cmd.Wait())
}
