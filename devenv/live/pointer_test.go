// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPointerMovesFromCommitToCommitAndNothingOfTheUserChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "file")
	first := w.git("rev-parse", "HEAD")
	w.write("file", "second")
	second := w.commit("Second")
	// A shallow clone with the two commits has nothing in between.
	clone := filepath.Join(t.TempDir(), "clone")
	w.gitIn(filepath.Dir(clone), "clone", "-q", "--depth=1", "file://"+w.root, clone)
	w.gitIn(clone, "fetch", "-q", "--depth=1", "origin", first)
	w.root = clone
	before := w.state()
	dir := filepath.Join(filepath.Dir(clone), "pointer.git")
	p, err := Point(t.Context(), clone, "main", dir)
	require.NoError(t, err)
	for _, commit := range []string{first, second, first} {
		require.NoError(t, p.Move(t.Context(), commit))
		require.Equal(t, commit, w.gitIn(p.Repository(), "rev-parse", "refs/heads/main"))
	}
	require.Equal(t, before, w.state())
	require.Error(t, p.Move(t.Context(), "1111111111111111111111111111111111111111"))
	require.Equal(t, first, w.gitIn(p.Repository(), "rev-parse", "refs/heads/main"), "it stays")

	again, err := Point(t.Context(), clone, "main", dir)
	require.NoError(t, err)
	require.NoError(t, again.Move(t.Context(), second), "the next process goes on")
	_, err = Point(t.Context(), t.TempDir(), "main", dir)
	require.Error(t, err)
}
