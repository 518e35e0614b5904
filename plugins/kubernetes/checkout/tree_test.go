// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package checkout_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/system/filetest"
)

func open(t *testing.T, root string) *checkout.Tree {
	t.Helper()
	tree, err := checkout.Open(root)
	require.NoError(t, err)
	return tree
}

func TestNothingOutsideIsRead(t *testing.T) {
	t.Parallel()
	outside := filetest.Write(t, t.TempDir(), map[string]string{"secret": "s", "folder/secret": "s"})
	root := filetest.Write(t, t.TempDir(), map[string]string{"in/file": "f"})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "folder")))
	require.NoError(t, os.Symlink("in/file", filepath.Join(root, "good")))
	tree := open(t, root)
	for _, path := range []string{"link", "folder/secret", "../x", "in/../../x"} {
		_, err := tree.ReadFile(filepath.Join(root, path))
		var outside *checkout.OutsideError
		require.ErrorAs(t, err, &outside, path)
		require.NotContains(t, err.Error(), root)
		require.Equal(t, checkout.Missing, tree.Kind(filepath.Join(root, path)))
	}
	_, err := tree.List(filepath.Join(root, "folder"))
	require.ErrorContains(t, err, "folder is outside of the repository")
	data, err := tree.ReadFile(filepath.Join(root, "good"))
	require.NoError(t, err)
	require.Equal(t, "f", string(data))
	require.Equal(t, checkout.File, tree.Kind(filepath.Join(root, "good")))
	require.Equal(t, checkout.Folder, tree.Kind(filepath.Join(root, "in")))
	_, err = tree.ReadFile(filepath.Join(root, "in"))
	require.EqualError(t, err, "in: not a regular file")
}

func TestAFileHasABound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "large")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, checkout.MaxFile+1))
	_, err := open(t, root).ReadFile(path)
	require.EqualError(t, err, "large: larger than the 32 MiB that a file may have")
}

func TestASnapshotShowsWhetherAnotherCheckoutIsTheSame(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a": "1", "folder/b": "2", "unread": "3"}
	root := filetest.Write(t, t.TempDir(), files)
	require.NoError(t, os.Symlink("a", filepath.Join(root, "link")))
	tree := open(t, root)
	for _, name := range []string{"a", "link", "folder/b"} {
		_, err := tree.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
	}
	_, err := tree.List(filepath.Join(root, "folder"))
	require.NoError(t, err)
	require.Equal(t, checkout.Missing, tree.Kind(filepath.Join(root, "gone")))
	seen := tree.Seen()
	require.True(t, seen.Same(root))
	require.Positive(t, seen.Size())

	for name, change := range map[string]func(dir string) error{
		"a file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "a"), []byte("x"),
				0o600)
		},
		"a new file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "folder/c"), nil,
				0o600)
		},
		"what was not there": func(dir string) error { return os.WriteFile(filepath.Join(dir, "gone"), nil, 0o600) },
		"a file is removed":  func(dir string) error { return os.Remove(filepath.Join(dir, "folder/b")) },
		"a link": func(dir string) error {
			return os.Remove(filepath.Join(dir, "link"))
		},
	} {
		dir := filetest.Write(t, t.TempDir(), files)
		require.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
		require.True(t, seen.Same(dir), name)
		require.NoError(t, change(dir))
		require.False(t, seen.Same(dir), name)
	}
	dir := filetest.Write(t, t.TempDir(), files)
	require.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "unread"), nil, 0o600))
	require.True(t, seen.Same(dir), "what was not read does not count")
	require.False(t, seen.Same(filepath.Join(dir, "gone")))
}
