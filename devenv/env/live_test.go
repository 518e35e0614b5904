// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestALiveEnvironmentDeploysTheWorkingTree(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	repository, err := o.Repository()
	require.NoError(t, err)
	saved := filepath.Join(repository.Root, "web", "saved")
	require.NoError(t, os.WriteFile(saved, []byte("before the start"), 0o644))
	o.Live = true
	up(t, o)
	pids(t, w, 1)

	watched, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(watched), "remote: file://"+w.Snapshots()+"\n")
	require.Contains(t, string(watched), "branch: main\n")
	running, err := w.Published()
	require.NoError(t, err)
	require.True(t, running.Live)
	content := func() string {
		out, err := exec.Command("git", "--git-dir", w.Snapshots(), "show", "main:web/saved").Output()
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	require.Equal(t, "before the start", content(), "piped finds what is there already")
	require.NoError(t, os.WriteFile(saved, []byte("again"), 0o644))
	require.Eventually(t, func() bool { return content() == "again" }, wait, 10*time.Millisecond)
	require.Equal(t, repository.Head, gittest.Run(t, repository.Root, "rev-parse", "HEAD"))
}

func TestADetachedHEADIsWatchedByWayOfTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	sample, err := o.Repository()
	require.NoError(t, err)
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, sample.Root, "clone", "-q", sample.Root, clone)
	gittest.Run(t, clone, "checkout", "-q", "--detach")
	o.Repository = func() (*workspace.Repository, error) { return workspace.OpenRepository(clone) }
	up(t, o)
	pids(t, w, 1)
	watched, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(watched), "remote: file://"+w.Snapshots()+"\n")
	require.Contains(t, string(watched), "branch: detached\n")
	require.Equal(t, sample.Head, gittest.Run(t, w.Snapshots(), "rev-parse", "detached"))
	running, err := w.Published()
	require.NoError(t, err)
	require.False(t, running.Live)
}

func TestAnEnvironmentThatIsNotLiveWatchesTheRepositoryItself(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	up(t, options(w))
	pids(t, w, 1)
	watched, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(watched), "remote: file://"+w.SampleRepository()+"\n")
	running, err := w.Published()
	require.NoError(t, err)
	require.False(t, running.Live)
	require.NoDirExists(t, w.Snapshots())
}
