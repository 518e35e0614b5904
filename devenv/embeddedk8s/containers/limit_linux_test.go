// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheGroupOfAKilledClusterIsRemovedWhereverItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := NewLimits(dir)
	name := filepath.Base(first.group)
	if first.group == "" {
		t.Skip("no control group may be created here")
	}
	elsewhere := filepath.Join(t.TempDir(), name) // as the first one leaves it that ran in another control group
	require.NoError(t, os.MkdirAll(filepath.Join(elsewhere, "uid-main-0"), 0o700))
	require.FileExists(t, filepath.Join(dir, GroupFile))
	require.NoError(t, os.WriteFile(filepath.Join(dir, GroupFile), []byte(elsewhere), 0o600))
	second := NewLimits(dir)
	require.NoDirExists(t, elsewhere)
	require.DirExists(t, second.group)
	second.Close()
	require.NoDirExists(t, second.group)
	require.NoFileExists(t, filepath.Join(dir, GroupFile))
}

func TestAFileThatNamesAnythingElseRemovesNothing(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, GroupFile), []byte(other), 0o600))
	NewLimits(dir).Close()
	require.DirExists(t, other)
}
