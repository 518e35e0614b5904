// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/revision"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// origin is a repository with three commits on main, a tag at the first, and a branch release/1.x at the second.
func origin(t *testing.T) (dir string, commits []string) {
	t.Helper()
	dir = gittest.Init(t)
	for i := range 3 {
		gittest.Write(t, dir, "file", strconv.Itoa(i))
		commits = append(commits, gittest.Commit(t, dir, "commit "+strconv.Itoa(i)))
	}
	gittest.Run(t, dir, "tag", "v1", commits[0])
	gittest.Run(t, dir, "branch", "release/1.x", commits[1])
	return dir, commits
}

func clone(t *testing.T, dir string, options ...string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, dir, append(append([]string{"clone", "-q"}, options...), "file://"+dir, to)...)
	return to
}

func TestARevisionIsFoundByAnyNameThatGitKnows(t *testing.T) {
	t.Parallel()
	dir, commits := origin(t)
	full := clone(t, dir)
	for ref, want := range map[string]revision.Revision{
		"main": {Name: "main", Commit: commits[2]}, "origin/main": {Name: "origin/main", Commit: commits[2]},
		"HEAD": {Name: "HEAD", Commit: commits[2]}, "HEAD~1": {Name: "HEAD~1", Commit: commits[1]},
		"@^": {Name: "@^", Commit: commits[1]}, "v1": {Name: "v1", Commit: commits[0]},
		commits[0]: {Name: commits[0], Commit: commits[0]}, commits[1][:8]: {Name: commits[1][:8], Commit: commits[1]},
		"release/1.x":   {Name: "origin/release/1.x", Commit: commits[1]},
		"release/1.x~1": {Name: "origin/release/1.x~1", Commit: commits[0]},
	} {
		found, err := revision.Find(t.Context(), full, ref)
		require.NoError(t, err, ref)
		require.Equal(t, want, found, ref)
	}
}

func TestTheCommandForAShallowCloneBringsTheRevision(t *testing.T) {
	t.Parallel()
	dir, commits := origin(t)
	for name, c := range map[string]struct {
		ref, command string
		// detached: HEAD is the merge commit of a pull request, fetched by its hash.
		detached bool
	}{
		"a branch": {"release/1.x",
			"fetch --depth=1 origin +refs/heads/release/1.x:refs/remotes/origin/release/1.x", false},
		"a branch of the remote": {"origin/release/1.x",
			"fetch --depth=1 origin +refs/heads/release/1.x:refs/remotes/origin/release/1.x", false},
		"the target of a pull request": {"origin/main",
			"fetch --depth=1 origin +refs/heads/main:refs/remotes/origin/main", true},
		"the commit before":            {"HEAD~1", "fetch --deepen=1 origin", false},
		"two commits before":           {"HEAD^~1", "fetch --deepen=2 origin", false},
		"the parent of a merge commit": {"HEAD^1", "fetch --deepen=1 origin HASH", true},
		"the second parent":            {"HEAD^2", "fetch --deepen=1 origin HASH", true},
		"a hash":                       {commits[0], "fetch --depth=1 origin " + commits[0], false},
		"a short hash":                 {commits[0][:8], "fetch --unshallow origin", false},
		"before a branch": {"release/1.x~1", "fetch --unshallow origin " +
			"+refs/heads/release/1.x:refs/remotes/origin/release/1.x", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var at string
			if c.detached {
				other := clone(t, dir)
				gittest.Run(t, other, "checkout", "-q", "-b", "feature", "HEAD~1")
				gittest.Write(t, other, "new", "x")
				gittest.Commit(t, other, "change")
				gittest.Run(t, other, "checkout", "-q", "--detach", "main")
				gittest.Run(t, other, "merge", "-q", "--no-ff", "-m", "merge", "feature")
				hash := gittest.Run(t, other, "rev-parse", "HEAD")
				gittest.Run(t, other, "update-ref", "refs/pull/1/merge", hash)
				gittest.Run(t, other, "checkout", "-q", "main")
				at = gittest.Init(t)
				gittest.Run(t, at, "remote", "add", "origin", "file://"+other)
				gittest.Run(t, at, "fetch", "-q", "--depth=1", "origin", "+"+hash+":refs/remotes/pull/1/merge")
				gittest.Run(t, at, "checkout", "-q", "--force", "refs/remotes/pull/1/merge")
				c.command = strings.ReplaceAll(c.command, "HASH", hash)
			} else {
				at = clone(t, dir, "--depth=1")
			}
			_, err := revision.Find(t.Context(), at, c.ref)
			var missing *revision.MissingError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, "this shallow clone does not have "+c.ref, missing.Problem)
			command, _, _ := strings.Cut(missing.Hint, "\n")
			require.Equal(t, "git -C "+at+" "+c.command, command)
			out, err := exec.Command("sh", "-c", command).CombinedOutput()
			require.NoError(t, err, string(out))
			_, err = revision.Find(t.Context(), at, c.ref)
			require.NoError(t, err, "the command brings it")
		})
	}
}

func TestATagIsFetchedByTheSecondCommand(t *testing.T) {
	t.Parallel()
	dir, commits := origin(t)
	at := clone(t, dir, "--depth=1")
	_, err := revision.Find(t.Context(), at, "v1")
	var missing *revision.MissingError
	require.ErrorAs(t, err, &missing)
	_, command, _ := strings.Cut(missing.Hint, "when it is a tag: ")
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	require.NoError(t, err, string(out))
	found, err := revision.Find(t.Context(), at, "v1")
	require.NoError(t, err)
	require.Equal(t, commits[0], found.Commit)
}

func TestARevisionThatDoesNotExistIsRefusedWithWhatThereIs(t *testing.T) {
	t.Parallel()
	dir, _ := origin(t)
	full := clone(t, dir)
	for ref, want := range map[string]string{
		"mian":        "did you mean main, origin/main? list the branches: git -C " + full + " branch --all",
		"release/1":   "did you mean origin/release/1.x? list",
		"nonsense":    "list the branches: git -C " + full + " branch --all; or fetch first: git -C " + full + " fetch",
		"HEAD~9":      "see it: git -C " + full + " log --oneline HEAD",
		"HEAD:file":   "list the branches",
		"":            "for example origin/main",
		"--all":       "for example origin/main",
		"main\nother": "for example origin/main",
	} {
		_, err := revision.Find(t.Context(), full, ref)
		var missing *revision.MissingError
		require.ErrorAs(t, err, &missing, ref)
		require.Contains(t, missing.Hint, want, ref)
	}
	local := gittest.Init(t)
	gittest.Commit(t, local, "first")
	at := clone(t, local, "--depth=1")
	gittest.Run(t, at, "remote", "remove", "origin")
	gittest.Write(t, at, ".git/shallow", gittest.Run(t, at, "rev-parse", "HEAD")+"\n")
	_, err := revision.Find(t.Context(), at, "main~1")
	require.ErrorContains(t, err, "this shallow clone does not have main~1")
}

func TestWhatCannotBeReadIsNoMissingRevision(t *testing.T) {
	t.Parallel()
	_, err := revision.Find(t.Context(), t.TempDir(), "main")
	require.ErrorContains(t, err, "not a git repository")
	var missing *revision.MissingError
	require.NotErrorAs(t, err, &missing)
}

func TestTheRelationOfABaseToHEAD(t *testing.T) {
	t.Parallel()
	dir, commits := origin(t)
	gittest.Run(t, dir, "checkout", "-q", "-b", "feature", "HEAD~1")
	feature := gittest.Commit(t, dir, "change")
	relate := func(root, base, head string) revision.Relation {
		r, err := revision.Relate(t.Context(), root, base, head)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, revision.Ancestor, relate(dir, commits[0], commits[2]))
	require.Equal(t, revision.Apart, relate(dir, commits[2], feature))
	shallow := clone(t, dir, "--depth=1", "--no-single-branch")
	require.Equal(t, revision.Unknown, relate(shallow, commits[2], feature))
	_, err := revision.Relate(t.Context(), dir, strings.Repeat("0", 40), feature)
	require.Error(t, err)
}
