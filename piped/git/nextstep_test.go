// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheNextStepOfALocalRepositoryBringsItBack runs the command that each problem names.
func TestTheNextStepOfALocalRepositoryBringsItBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose  func(u *userRepo)
		want  error
		cause string
	}{
		"the branch is deleted": {func(u *userRepo) {
			u.git("switch", "-q", "-c", "other")
			u.git("commit", "-q", "--allow-empty", "-m", "of the other branch")
			u.git("branch", "-D", "main")
		}, ErrNoBranch, "main is missing, there is other"},
		"the branch is renamed": {
			func(u *userRepo) { u.git("branch", "-m", "main", "other") }, ErrNoBranch,
			"main is missing, there is other",
		},
		"the only branch is deleted": {func(u *userRepo) {
			u.git("checkout", "-q", "--detach")
			u.git("branch", "-D", "main")
		}, ErrNoBranch, "main is missing"},
		"HEAD is gone": {
			func(u *userRepo) { require.NoError(u.t, os.Remove(filepath.Join(u.dir, ".git/HEAD"))) }, ErrDamaged,
			".git/HEAD is missing",
		},
		"refs are gone": {func(u *userRepo) {
			u.git("pack-refs", "--all")
			require.NoError(u.t, os.RemoveAll(filepath.Join(u.dir, ".git/refs")))
		}, ErrDamaged, ".git/refs is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			u.write("a", "a")
			first := u.commit("first")
			r := open(t, u.dir)
			_, err := r.Update(t.Context())
			require.NoError(t, err)
			c.lose(u)

			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, c.want)
			var problem *RepositoryError
			require.ErrorAs(t, err, &problem)
			require.Contains(t, problem.Hint, c.cause)
			require.NotContains(t, problem.Hint, "configuration")
			_, command, found := strings.Cut(problem.Hint, "with: ")
			require.True(t, found, problem.Hint)
			out, err := exec.Command("sh", "-c", command).CombinedOutput()
			require.NoError(t, err, "%s: %s", command, out)

			head, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, first, head.Hash)
			u.git("fsck")
		})
	}
}

// TestABranchThatGitIsDeletingIsNoRepositoryWithoutCommits: while Git deletes a branch, there is an empty lock file
// next to the other branches.
func TestABranchThatGitIsDeletingIsNoRepositoryWithoutCommits(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.commit("first")
	u.git("switch", "-q", "-c", "other/one")
	u.git("branch", "-D", "main")
	u.write(".git/refs/heads/main.lock", "")
	for range 2 {
		_, err := open(t, u.dir).Update(t.Context())
		require.ErrorIs(t, err, ErrNoBranch)
		var problem *RepositoryError
		require.ErrorAs(t, err, &problem)
		require.Contains(t, problem.Hint, "main is missing, there is other/one:")
		require.NoError(t, os.Remove(filepath.Join(u.dir, ".git/refs/heads/main.lock")))
		u.git("pack-refs", "--all")
		u.write(".git/refs/heads/main.lock", "")
	}
}

func TestAMissingDirectoryIsNotCalledARepositoryOfAnotherKind(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.commit("first")
	r := open(t, u.dir)
	require.NoError(t, os.Rename(u.dir, u.dir+".moved"))
	_, err := r.Update(t.Context())
	require.ErrorIs(t, err, ErrNoDirectory)
	require.ErrorIs(t, err, ErrNotRepository)
	var problem *RepositoryError
	require.True(t, errors.As(err, &problem))
	require.Contains(t, problem.Hint, "move or clone the repository to "+u.dir)
	require.NoError(t, os.Rename(u.dir+".moved", u.dir))
	_, err = r.Update(t.Context())
	require.NoError(t, err)
}
