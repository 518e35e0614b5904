// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryRepositoryHasItsOwnFolder(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, id := range []string{"apps", "local", ".", "..", "...", "../../etc", "a/b", "a%2Fb", "a\\b", "ünï",
		strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		folder := folderOf(id)
		require.Equal(t, filepath.Base(folder), folder, id)
		require.NotContains(t, []string{".", "..", ""}, folder, id)
		require.LessOrEqual(t, len(folder), 200, id)
		require.Empty(t, seen[folder], "%q and %q share one", id, seen[folder])
		seen[folder] = id
	}
	require.Equal(t, "apps", folderOf("apps"))
}
