// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestCleanShowsCachesAndRemovesThemOnRequest(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", "")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	images := filepath.Join(cache, "pipedeck", "images")
	require.NoError(t, os.MkdirAll(images, 0o700))
	archive := filepath.Join(images, strings.Repeat("a", 64)+".tar")
	require.NoError(t, os.WriteFile(archive, make([]byte, 3<<20), 0o600))
	state := filepath.Join(home, "state")

	code, stdout, _ := command(t.Context(), state, "clean", "--all")
	require.Equal(t, exit.OK, code)
	require.Contains(t, stdout, "3 MiB in all, of which 3 MiB can be removed")
	require.Contains(t, stdout, "pipedeck clean --yes --all", "no terminal, no question")
	require.FileExists(t, archive)

	code, _, stderr := command(t.Context(), state, "clean", "--yes", "--dry-run")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "not both")
	code, stdout, _ = command(t.Context(), state, "clean", "--yes")
	require.Equal(t, exit.OK, code)
	require.Contains(t, stdout, "removed 0 KiB", "it is new, and the next start uses it")
	require.FileExists(t, archive)

	old := time.Now().Add(-30 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(archive, old, old))
	code, stdout, _ = command(t.Context(), state, "clean", "--dry-run")
	require.Equal(t, exit.OK, code)
	require.Contains(t, stdout, "30 days ago   can be removed")
	require.FileExists(t, archive)

	code, stdout, _ = command(t.Context(), state, "clean", "--yes", "-o", "json")
	require.Equal(t, exit.OK, code)
	var answer document.Caches
	clitest.Document(t, "caches", stdout, &answer)
	require.Len(t, answer.Caches, 1)
	require.True(t, answer.Caches[0].Removed)
	require.Equal(t, int64(3<<20), answer.Freed)
	require.NoFileExists(t, archive)

	code, stdout, _ = command(t.Context(), state, "clean")
	require.Equal(t, exit.OK, code)
	require.Contains(t, stdout, "there are no caches")
}
