// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/owned"
)

func TestSyncTreeOpensWhatHasContentAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "read-only"), []byte("x"), 0o400))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "a", "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a", "pipe"), 0o600), "opening a pipe would wait for a writer")
	require.NoError(t, owned.SyncTree(dir))
	require.ErrorIs(t, owned.SyncTree(filepath.Join(dir, "none")), os.ErrNotExist)
	require.ErrorIs(t, owned.SyncDirectory(filepath.Join(dir, "none")), os.ErrNotExist)
}
