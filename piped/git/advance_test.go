// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// content is what a directory holds, by path.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		name, text := strings.TrimPrefix(path, dir), ""
		if !entry.IsDir() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			text = string(data)
		}
		found[name] = fmt.Sprint(info.Mode(), text)
		return nil
	}))
	return found
}

func TestAnAdvancedCheckoutIsLikeAFreshOne(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	pointer := lfsPointer + "oid sha256:a\n"
	remove := func(name string) { require.NoError(t, os.RemoveAll(filepath.Join(u.dir, name))) }
	steps := []func(){
		func() { u.write("a", "1"); u.write("dir/b", "1"); u.write("dir/deep/c", "1"); u.write("lfs", pointer) },
		func() { u.write("a", "2") },
		func() { u.write("dir/deep/c", "2"); u.write("new/dir/d", "1"); u.write("other.lfs", pointer) },
		func() { remove("dir"); u.write("dir", "a file in place of a directory") },
		func() { remove("dir"); u.write("dir/b", "a directory in place of a file") },
		func() { require.NoError(t, os.Chmod(filepath.Join(u.dir, "a"), 0o755)) },
		func() { u.write("lfs", "the content itself"); remove("other.lfs"); remove("new") },
		func() { u.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module") },
		func() {},
	}
	var commits []string
	for i, step := range steps {
		step()
		if i == 7 {
			u.git("commit", "-q", "-m", "A submodule")
			commits = append(commits, u.git("rev-parse", "HEAD"))
		} else {
			commits = append(commits, u.commit(fmt.Sprint(i)))
		}
	}
	r := open(t, u.dir)
	fresh := map[string]map[string]string{}
	freshLeft := map[string][]LeftOut{}
	for _, commit := range commits {
		dir := filepath.Join(t.TempDir(), "fresh")
		left, err := r.Checkout(t.Context(), commit, dir)
		require.NoError(t, err)
		fresh[commit], freshLeft[commit] = content(t, dir), left
	}
	for _, from := range commits {
		for _, to := range commits {
			dir := filepath.Join(t.TempDir(), "advanced")
			left, err := r.Checkout(t.Context(), from, dir)
			require.NoError(t, err)
			left, err = r.Advance(t.Context(), from, to, dir, left)
			require.NoError(t, err)
			require.Equal(t, fresh[to], content(t, dir), "%s to %s", from, to)
			require.ElementsMatch(t, freshLeft[to], left)
		}
	}
}

func TestCheckoutsWithLinksAreNotAdvanced(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	require.NoError(t, os.Symlink("a", filepath.Join(u.dir, "link")))
	second := u.commit("A link")
	require.NoError(t, os.Remove(filepath.Join(u.dir, "link")))
	third := u.commit("No link")
	r := open(t, u.dir)
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err := r.Checkout(t.Context(), first, dir)
	require.NoError(t, err)
	_, err = r.Advance(t.Context(), first, second, dir, nil)
	require.ErrorIs(t, err, ErrLinks)
	_, err = r.Advance(t.Context(), first, strings.Repeat("1", 40), dir, nil)
	require.ErrorIs(t, err, ErrNoCommit)

	linked := filepath.Join(t.TempDir(), "linked")
	_, err = r.Checkout(t.Context(), second, linked)
	require.NoError(t, err)
	_, err = r.Advance(t.Context(), second, third, linked, nil)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(linked, "link"))
}
