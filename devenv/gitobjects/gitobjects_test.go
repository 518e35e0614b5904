// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// contents returns the files of a commit with their contents.
func contents(t *testing.T, r *Repository, commit string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, r.Files(plumbing.NewHash(commit), func(f *File) error {
		content, err := f.Content()
		require.NoError(t, err)
		require.Equal(t, int64(len(content)), f.Size)
		found[f.Path] = string(content)
		return nil
	}))
	return found
}

func TestARepositoryIsReadAsGitWroteIt(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "one", "a.b": "", "dir/a": "two\n", "dir/deep/er": strings.Repeat("x", 1<<20)}
	for name, prepare := range map[string]func(t *testing.T, dir string) string{
		"loose": func(_ *testing.T, dir string) string { return dir },
		"packed": func(t *testing.T, dir string) string {
			gittest.Run(t, dir, "gc", "-q")
			gittest.Run(t, dir, "pack-refs", "--all")
			return dir
		},
		"from a directory of it": func(_ *testing.T, dir string) string { return filepath.Join(dir, "dir", "deep") },
		"a linked work tree": func(t *testing.T, dir string) string {
			linked := filepath.Join(t.TempDir(), "linked")
			gittest.Run(t, dir, "worktree", "add", "-q", "-b", "linked", linked)
			return linked
		},
		"a clone that borrows the objects": func(t *testing.T, dir string) string {
			shared := filepath.Join(t.TempDir(), "shared")
			gittest.Run(t, dir, "clone", "-q", "--shared", dir, shared)
			return shared
		},
		"a sparse checkout": func(t *testing.T, dir string) string {
			gittest.Run(t, dir, "sparse-checkout", "set", "dir")
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := gittest.Init(t)
			for name, content := range files {
				gittest.Write(t, dir, name, content)
			}
			hash := gittest.Commit(t, dir, "the subject\n\nthe body")
			r, err := Open(prepare(t, dir))
			require.NoError(t, err)
			head, err := r.Resolve(plumbing.HEAD)
			require.NoError(t, err)
			require.Equal(t, hash, head.Hash().String())
			commit, err := r.Commit(head.Hash())
			require.NoError(t, err)
			require.Equal(t, "the subject\n\nthe body\n", commit.Message)
			require.Equal(t, gittest.Run(t, dir, "log", "-1", "--format=%ct"),
				strconv.FormatInt(commit.When.Unix(), 10))
			require.Equal(t, files, contents(t, r, hash))
		})
	}
}

func TestBranchesAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	dir := gittest.Init(t)
	hash := gittest.Commit(t, dir, "first")
	gittest.Run(t, dir, "branch", "team/one")
	gittest.Run(t, dir, "update-ref", "refs/remotes/origin/two", hash)
	gittest.Run(t, dir, "tag", "three")
	r, err := Open(dir)
	require.NoError(t, err)
	names, err := r.Branches()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"main", "team/one"}, names)
	for _, name := range []string{"main", "team/one", "origin/two"} {
		found, err := r.Branch(name)
		require.NoError(t, err)
		require.Equal(t, hash, found.Hash().String())
	}
	_, err = r.Branch("three")
	require.ErrorIs(t, err, plumbing.ErrReferenceNotFound)
}

func TestWhatIsMissingOrBrokenIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Open(t.TempDir())
	require.ErrorIs(t, err, ErrNotExist)

	dir := gittest.Init(t)
	gittest.Write(t, dir, "file", "content")
	hash := gittest.Commit(t, dir, "first")
	r, err := Open(dir)
	require.NoError(t, err)
	_, err = r.Commit(plumbing.NewHash(strings.Repeat("1", 40)))
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
	_, err = r.Tree(plumbing.NewHash(hash))
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound, "a commit is not a tree")
	for name, kind := range map[string]string{"author Ada\n\nmessage\n": "commit", "100644 file": "tree"} {
		broken := writeObject(t, dir, kind, name)
		if kind == "commit" {
			_, err = r.Commit(broken)
		} else {
			_, err = r.Tree(broken)
		}
		require.ErrorIs(t, err, errMalformed, kind)
	}

	bare := t.TempDir()
	gittest.Run(t, bare, "init", "-q", "--bare")
	require.True(t, IsBare(bare))
	require.False(t, IsBare(dir))
	_, err = Open(bare)
	require.ErrorIs(t, err, ErrNotExist)

	gittest.Run(t, dir, "config", "core.repositoryformatversion", "1")
	gittest.Run(t, dir, "config", "extensions.noop", "true")
	_, err = Open(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "config"),
		[]byte("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tunknown = 1\n"), 0o600))
	_, err = Open(dir)
	require.ErrorContains(t, err, "the extension unknown is not supported")
}

// writeObject stores an object of whatever content.
func writeObject(t *testing.T, dir, kind, content string) plumbing.Hash {
	t.Helper()
	file := filepath.Join(t.TempDir(), "object")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return plumbing.NewHash(gittest.Run(t, dir, "hash-object", "--literally", "-t", kind, "-w", file))
}

func TestACreatedRepositoryIsOneForGit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"a": "1", "a.b": "2", "a-b/c": "3", "x/y/z": "4", "x/y.z": "5"}
	files["b/a"], files["b.a"], files["b0"] = "6", "7", "8" // a directory sorts between the two others
	created, err := Create(dir, "main")
	require.NoError(t, err)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		require.NoError(t, created.Add(name, []byte("replaced")))
		require.NoError(t, created.Add(name, []byte(files[name])))
	}
	require.ErrorContains(t, created.Add("../outside", nil), "is not a path in a repository")
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 2*60*60))
	require.NoError(t, created.Commit("Ada", "ada@example.com", "first", when))

	require.Empty(t, gittest.Run(t, dir, "fsck", "--strict", "--full", "--no-dangling"))
	require.Empty(t, gittest.Run(t, dir, "status", "--porcelain"))
	require.Equal(t, "Ada <ada@example.com> 2026-01-02T03:04:05+02:00 first",
		gittest.Run(t, dir, "log", "--format=%cn <%ae> %cI %s"))
	r, err := Open(dir)
	require.NoError(t, err)
	require.Equal(t, files, contents(t, r, gittest.Run(t, dir, "rev-parse", "main")))
}
