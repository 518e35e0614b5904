// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// TestWithoutAPlaceForCachesNothingIsLeftBehind has a user without a home directory, as in some containers.
func TestWithoutAPlaceForCachesNothingIsLeftBehind(t *testing.T) {
	repo := clitest.Repository(t, clitest.GoodApplication)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	for name, args := range map[string][]string{
		"ci": ciArguments(t, repo),
		"up": append([]string{"up"}, ciArguments(t, repo)[1:]...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			code, _, stderr := command(t.Context(), dir, args...)
			require.Equal(t, exit.WrongUsage, code, stderr)
			require.Contains(t, stderr, "pipedeck: find the directory for caches: ")
			require.Contains(t, stderr, "HOME")
			require.Contains(t, stderr, "next step: set HOME")
			require.NoDirExists(t, dir)
		})
	}
}

// TestACIThatCannotBeginLeavesNothing has a user whose working directory was deleted: that is met when the environment
// was created, and before any part of it runs.
func TestACIThatCannotBeginLeavesNothing(t *testing.T) {
	repo := clitest.Repository(t, clitest.GoodApplication)
	dir := filepath.Join(t.TempDir(), "state")
	gone := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	require.NoError(t, os.Remove(gone))
	code, _, stderr := command(t.Context(), dir, ciArguments(t, repo)...)
	require.Equal(t, exit.NotStarted, code, stderr)
	require.Contains(t, stderr, "find the working directory")
	require.NoDirExists(t, dir)
}
