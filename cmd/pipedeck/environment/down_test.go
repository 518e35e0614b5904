// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// documents returns a state directory with a folder that pipedeck did not create, and a file in that folder.
func documents(t *testing.T) (stateDir, file string) {
	t.Helper()
	stateDir = t.TempDir()
	file = filepath.Join(stateDir, "documents", "thesis.txt")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("years"), 0o600))
	return stateDir, file
}

func environment(t *testing.T, stateDir, name string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.At(stateDir, name)
	require.NoError(t, err)
	require.NoError(t, w.Create())
	return w
}

func TestDownNeverRemovesWhatPipedeckDidNotCreate(t *testing.T) {
	t.Parallel()
	stateDir, file := documents(t)
	code, _, stderr := command(t.Context(), stateDir, "down", "--name", "documents")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, filepath.Dir(file)+" was not created by pipedeck")
	require.Contains(t, stderr, "next step: ")
	require.FileExists(t, file)

	w := environment(t, stateDir, "demo")
	code, stdout, stderr := command(t.Context(), stateDir, "down", "--all")
	require.Equal(t, exit.Failed, code, "something is left")
	require.Contains(t, stdout, `environment "demo" is gone`)
	require.Contains(t, stderr, filepath.Dir(file))
	require.FileExists(t, file)
	require.NoDirExists(t, w.Dir)
}

func TestDownNamesWhatItLeavesInAnEnvironment(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	w := environment(t, stateDir, "demo")
	require.NoError(t, os.WriteFile(w.Path("notes.txt"), nil, 0o600))
	for _, args := range [][]string{{"down", "--name", "demo"}, {"down", "--all"}} {
		code, _, stderr := command(t.Context(), stateDir, args...)
		require.Equal(t, exit.Failed, code)
		require.Contains(t, stderr, "left as it is: notes.txt")
		require.Contains(t, stderr, "next step: ")
		require.FileExists(t, w.Path("notes.txt"))
	}
	require.NoError(t, os.Remove(w.Path("notes.txt")))
	code, stdout, _ := command(t.Context(), stateDir, "down", "--name", "demo")
	require.Zero(t, code)
	require.Contains(t, stdout, "is gone")
	require.NoDirExists(t, w.Dir)
	require.DirExists(t, stateDir, "the user has made it")
}

func TestUpAndCIRefuseAFolderThatIsNotTheirs(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	stateDir, file := documents(t)
	for _, args := range [][]string{
		ciArguments(t, repo, "--name", "documents"),
		append([]string{"up"}, ciArguments(t, repo, "--name", "documents", "--keep=false")[1:]...),
	} {
		code, _, stderr := command(t.Context(), stateDir, args...)
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stderr, "was not created by pipedeck and is not empty")
		require.Contains(t, stderr, "next step: ")
		left, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Len(t, left, 1, "nothing was added or removed")
	}
}

func TestDownOfAnEnvironmentThatIsNotThereNamesTheOthers(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	environment(t, stateDir, "one")
	running := environment(t, stateDir, "two")
	lock, err := running.Acquire()
	require.NoError(t, err)
	defer lock.Release()
	code, stdout, _ := command(t.Context(), stateDir, "down")
	require.Zero(t, code)
	require.Contains(t, stdout, `there is no environment "default"`)
	require.Contains(t, stdout,
		`environment "one" is kept; remove it with: pipedeck down --name one --state-dir `+stateDir)
	require.Contains(t, stdout, `environment "two" is running`)

	require.NoError(t, lock.Release())
	code, stdout, _ = command(t.Context(), stateDir, "down", "--all")
	require.Zero(t, code)
	require.Contains(t, stdout, "all 2 environments are gone")
}

// TestDownOfAnEnvironmentThatHangsNamesItsProcess has an environment whose connections nothing answers, as when its
// process is stopped.
func TestDownOfAnEnvironmentThatHangsNamesItsProcess(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	w := environment(t, stateDir, "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	lock, err := w.Acquire()
	require.NoError(t, err)
	defer lock.Release()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	require.NoError(t, w.Publish(workspace.Running{PID: 4711, Address: silent.Addr().String()}))
	code, _, stderr := command(t.Context(), stateDir, "down", "--name", "demo")
	require.Equal(t, exit.Failed, code)
	require.Contains(t, stderr, `environment "demo" does not answer within 10s: its process hangs or is stopped`)
	require.Contains(t, stderr, "kill -9 4711; pipedeck down --name demo --state-dir "+stateDir)
	require.NotContains(t, stderr, "rpc error")
}

func TestTheHelpOfDownNamesItsExitCodes(t *testing.T) {
	t.Parallel()
	code, stdout, _ := command(t.Context(), t.TempDir(), "down", "--help")
	require.Zero(t, code)
	require.Contains(t, stdout, "Exit code 0: ")
}

func TestDownOfNothingIsFine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"down"}, {"down", "--all"}} {
		code, stdout, _ := command(t.Context(), filepath.Join(t.TempDir(), "state"), args...)
		require.Zero(t, code)
		require.Contains(t, stdout, "there is no environment")
	}
}

func TestDownNamesTheUsersWorkInTheSampleRepository(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	w := environment(t, stateDir, "demo")
	sample, err := sampleapps.Find("hello-world")
	require.NoError(t, err)
	repo, err := w.EnsureSample(sample)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(repo.Root, "notes.txt"), []byte("mine"), 0o600))
	code, stdout, stderr := command(t.Context(), stateDir, "down", "--name", "demo")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "deleting 1 uncommitted file of yours in the sample repository: notes.txt")
	require.NoDirExists(t, w.Dir)
}
