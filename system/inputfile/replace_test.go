// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/inputfile"
)

func TestAFileOfAUserIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, os.Chmod(file, 0o640))
	require.NoError(t, os.Symlink("file", link))
	reader, err := os.Open(file)
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, inputfile.Replace(link, []byte("new")))
	seen, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, "old", string(seen), "a reader has the old content whole")
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "new", string(now))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	target, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "file", target)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing else is left")
	require.ErrorIs(t, inputfile.Replace(filepath.Join(dir, "none"), nil), fs.ErrNotExist)
}
