// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestABranchFollowsADetachedHEADInAShallowClone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "file")
	w.write("file", "second")
	w.commit("Second")
	clone := filepath.Join(t.TempDir(), "clone")
	w.gitIn(filepath.Dir(clone), "clone", "-q", "--depth=1", "file://"+w.root, clone)
	w.gitIn(clone, "checkout", "-q", "--detach")
	w.root = clone
	options := Options{Root: clone, Branch: "detached", CommitsOnly: true,
		Dir: filepath.Join(filepath.Dir(clone), "live.git")}
	tree, err := Open(t.Context(), options)
	require.NoError(t, err)
	w.tree = tree
	at := func() string { return w.snapshots("rev-parse", "refs/heads/detached") }

	head := w.git("rev-parse", "HEAD")
	w.write("file", "not committed")
	s, err := tree.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, Snapshot{Commit: head, New: true}, s, "the commit is deployed, not what is on disk")
	require.Equal(t, head, at())
	s, err = tree.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, Snapshot{Commit: head}, s)

	snapshots := make(chan Snapshot, 16)
	ran := make(chan error, 1)
	ctx := t.Context()
	go func() { ran <- tree.Run(ctx, func(s Snapshot, _ error) { snapshots <- s }) }()
	w.git("config", "user.name", "Ada")
	w.git("config", "user.email", "ada@example.com")
	next := w.commit("Third")
	select {
	case s := <-snapshots:
		require.Equal(t, next, s.Commit)
	case <-time.After(wait):
		require.Fail(t, "the next commit was not seen")
	}
	require.Equal(t, next, at())

	again, err := Open(t.Context(), options)
	require.NoError(t, err)
	s, err = again.Take(t.Context())
	require.NoError(t, err)
	require.Equal(t, next, s.Commit, "the next process goes on")
}
