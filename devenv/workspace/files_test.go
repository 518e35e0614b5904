// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestTheFilesOfACommitAreReadByTheirPaths(t *testing.T) {
	t.Parallel()
	dir := gittest.Init(t)
	gittest.Write(t, dir, "web/app.pipecd.yaml", "kind: Application\n")
	gittest.Write(t, dir, "web/deep/a.yaml", "a: 1\n")
	gittest.Write(t, dir, "large.yaml", strings.Repeat("#", maxContent+1))
	require.NoError(t, os.Symlink("web", filepath.Join(dir, "link")))
	gittest.Commit(t, dir, "commit")
	gittest.Write(t, dir, "web/later.yaml", "it is not committed\n")
	repository, err := OpenRepository(dir)
	require.NoError(t, err)
	files, err := repository.Files()
	require.NoError(t, err)

	for name, want := range map[string]string{
		".": "folder", "web": "folder", "web/deep/": "folder", "web/deep/../deep": "folder", "web/deep/a.yaml": "file",
		"link": "", "link/deep": "", "web/later.yaml": "", "nowhere": "", "nowhere/a": "", "..": "", "../x": "",
		"/web": "", "web/deep/a.yaml/b": "",
	} {
		isFile, isFolder := files.Kind(name)
		require.Equal(t, want == "file", isFile, name)
		require.Equal(t, want == "folder", isFolder, name)
	}
	require.Equal(t, []string{"a.yaml"}, files.Files("web/deep"))
	require.Equal(t, []string{"app.pipecd.yaml"}, files.Files("web"))
	require.Empty(t, files.Files("nowhere"))
	content, err := files.Content("web/deep/a.yaml")
	require.NoError(t, err)
	require.Equal(t, "a: 1\n", string(content))
	_, err = files.Content("web/later.yaml")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = files.Content("large.yaml")
	require.ErrorContains(t, err, "larger than 8 MiB")
}
