// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllFilesTogetherHaveABound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	path := filepath.Join(root, "a")
	require.NoError(t, os.WriteFile(path, make([]byte, 10), 0o600))
	tree, err := Open(root)
	require.NoError(t, err)
	require.EqualValues(t, maxTotal, tree.left)
	tree.left = 25
	for range 2 {
		_, err = tree.ReadFile(path)
		require.NoError(t, err)
	}
	_, err = tree.ReadFile(path)
	require.EqualError(t, err, "a: more than 256 MiB of files are used by one application")
}
