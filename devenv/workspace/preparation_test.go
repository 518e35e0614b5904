// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestOthersSeeWhatIsDoneBeforeAnEnvironmentStarts(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "state")
	w, err := workspace.At(root, "dev")
	require.NoError(t, err)
	require.Nil(t, workspace.Preparing(w))
	done := workspace.Prepare(w, "building plugin greeter")
	seen := workspace.Preparing(w)
	require.NotNil(t, seen)
	require.Equal(t, "building plugin greeter", seen.What)
	require.WithinDuration(t, time.Now(), seen.Since, time.Minute)
	workspace.Prepare(w, "building another one")()
	require.Equal(t, "building plugin greeter", workspace.Preparing(w).What, "that of another process stays")
	found, others, err := workspace.List(root)
	require.NoError(t, err)
	require.Empty(t, append(others, dirs(found)...))
	done()
	require.Nil(t, workspace.Preparing(w))

	left := filepath.Join(root, ".dev.preparing")
	require.NoError(t, os.WriteFile(left, []byte(`{"what":"building","since":"2026-01-02T03:04:05Z"}`), 0o600))
	require.Nil(t, workspace.Preparing(w), "of a process that was killed")
}

func dirs(all []*workspace.Workspace) (dirs []string) {
	for _, w := range all {
		dirs = append(dirs, w.Dir)
	}
	return dirs
}
