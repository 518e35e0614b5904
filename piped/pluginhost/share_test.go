// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func plainProgram(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	one, err := os.Stat(a)
	require.NoError(t, err)
	other, err := os.Stat(b)
	require.NoError(t, err)
	return os.SameFile(one, other)
}

func TestPluginsOfOneProgramShareOneCopy(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), plainProgram(t, "a program of all plugins", 0o755)
	var wait, script binary
	var group errgroup.Group
	for name, stored := range map[string]*binary{"wait": &wait, "scriptrun": &script} {
		group.Go(func() (err error) {
			*stored, _, err = store(dir, name, source)
			return err
		})
	}
	require.NoError(t, group.Wait(), "piped starts all plugins at once")
	require.NotEqual(t, wait.path, script.path)
	require.True(t, same(t, wait.path, script.path))
	require.False(t, same(t, source, wait.path), "a compiler may write to the source")

	require.NoError(t, os.WriteFile(wait.path, []byte("damaged"), 0o700))
	again, replaced, err := store(dir, "scriptrun", source)
	require.NoError(t, err)
	require.True(t, replaced)
	require.True(t, again.whole())
	require.False(t, same(t, wait.path, again.path), "a damaged copy is not shared")
}

func TestAnInstalledProgramThatNoOneWritesIsLinked(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), plainProgram(t, "an installed program", 0o555)
	link := filepath.Join(t.TempDir(), "wait")
	require.NoError(t, os.Symlink(source, link))
	stored, _, err := store(dir, "wait", link)
	require.NoError(t, err)
	require.True(t, same(t, source, stored.path))
	again, _, err := store(dir, "wait", link)
	require.NoError(t, err)
	require.Equal(t, stored, again)
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o555), info.Mode().Perm(), "others still run it")
	left, err := filepath.Glob(filepath.Join(dir, ".fetch-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAProgramThatIsReplacedWhileItIsLinkedIsCopied(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), plainProgram(t, "an installed program", 0o555)
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.NoError(t, os.Rename(plainProgram(t, "a newer program", 0o555), source))
	require.ErrorIs(t, linkAtomically(source, info, filepath.Join(dir, "linked")), errReplaced)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestALinkedProgramIsKnownAsTheSame(t *testing.T) {
	t.Parallel()
	dir, source := t.TempDir(), plainProgram(t, "an installed program", 0o555)
	before, found := identify(source)
	require.True(t, found)
	stored, _, err := store(dir, "wait", source)
	require.NoError(t, err)
	now, _ := identify(source)
	require.Equal(t, now, before.linked(source, stored.path))
	other := plainProgram(t, "an installed program", 0o755)
	before, _ = identify(other)
	require.NoError(t, os.Chmod(other, 0o555)) // its own time changes
	require.Equal(t, before, before.linked(other, stored.path), "the copy is not this file")
}
