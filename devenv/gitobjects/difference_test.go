// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestTheFilesThatDifferAreThoseOfGit(t *testing.T) {
	t.Parallel()
	dir := gittest.Init(t)
	for _, name := range []string{"same", "changed", "dir/gone", "dir/same", "moved", "mode", "was-file", "was/dir"} {
		gittest.Write(t, dir, name, name)
	}
	before := gittest.Commit(t, dir, "before")
	gittest.Run(t, dir, "rm", "-q", "dir/gone", "was-file", "was/dir")
	gittest.Run(t, dir, "mv", "moved", "to")
	gittest.Write(t, dir, "changed", "other")
	gittest.Write(t, dir, "new/deep/er", "x")
	gittest.Write(t, dir, "was-file/now-dir", "x")
	gittest.Write(t, dir, "was", "a file now")
	require.NoError(t, os.Chmod(filepath.Join(dir, "mode"), 0o755))
	after := gittest.Commit(t, dir, "after")

	r, err := Open(dir)
	require.NoError(t, err)
	for _, pair := range [][2]string{{before, after}, {after, before}} {
		changed, err := r.Changed(plumbing.NewHash(pair[0]), plumbing.NewHash(pair[1]))
		require.NoError(t, err)
		require.Equal(t, strings.Fields(gittest.Run(t, dir, "diff-tree", "-r", "--no-renames", "--name-only", pair[0],
			pair[1])), changed)
	}
	same, err := r.Changed(plumbing.NewHash(after), plumbing.NewHash(after))
	require.NoError(t, err)
	require.Empty(t, same)
	_, err = r.Changed(plumbing.NewHash(before), plumbing.NewHash(strings.Repeat("1", 40)))
	require.ErrorIs(t, err, plumbing.ErrObjectNotFound)
}
