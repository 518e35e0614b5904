// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestAnEnvironmentDeploysTheCommitsThatItIsGiven(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	repository, err := o.Repository()
	require.NoError(t, err)
	first := repository.Head
	gittest.Write(t, repository.Root, "web/file", "second")
	second := gittest.Commit(t, repository.Root, "second")
	commits := make(chan string, 2)
	commits <- first
	o.Commits = commits
	o.Repository = func() (*workspace.Repository, error) { return repository, nil }
	up(t, o)
	pids(t, w, 1)
	watched, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(watched), "remote: file://"+w.Snapshots()+"\n")
	require.Contains(t, string(watched), "branch: main\n")
	at := func() string {
		content, err := os.ReadFile(filepath.Join(w.Snapshots(), "refs", "heads", "main"))
		if err != nil {
			return err.Error()
		}
		return string(content)
	}
	require.Equal(t, first+"\n", at())
	commits <- second
	require.Eventually(t, func() bool { return at() == second+"\n" }, wait, 10*time.Millisecond)
}

func TestACommitThatIsNotThereEndsTheEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t, "run")
	o := options(w)
	commits := make(chan string, 1)
	commits <- "1111111111111111111111111111111111111111"
	o.Commits = commits
	err := Run(t.Context(), o)
	var failure *StartError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, componentRepository, failure.Component)
}
