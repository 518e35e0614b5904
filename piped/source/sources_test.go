// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestWhetherAnApplicationIsInGitIsLookedForAtTheHead(t *testing.T) {
	t.Parallel()
	user := gittest.Init(t)
	gittest.Write(t, user, "web/app.pipecd.yaml", goodConfig)
	gittest.Write(t, user, "README.md", "x")
	first := gittest.Commit(t, user, "First")
	mirror, err := git.Open(t.Context(), git.Options{ID: "apps", Remote: user, Branch: "main",
		Dir: filepath.Join(t.TempDir(), "mirror")})
	require.NoError(t, err)
	sources := NewSources(newStore(t), map[string]*git.Repository{"apps": mirror}, nil)
	d := &model.Deployment{GitPath: &model.ApplicationGitPath{
		Repo: &model.ApplicationGitRepository{Id: "apps"}, Path: "web"}}
	inGit := func() string {
		commit, err := sources.InGit(t.Context(), d)
		require.NoError(t, err)
		return commit
	}
	require.Equal(t, first, inGit())
	require.NoError(t, os.RemoveAll(filepath.Join(user, "web")))
	gittest.Commit(t, user, "Remove it")
	require.Empty(t, inGit())
	gittest.Write(t, user, "web/app.pipecd.yaml", goodConfig)
	require.Equal(t, gittest.Commit(t, user, "Have it again"), inGit())
}
