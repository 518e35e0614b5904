// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/inputfile"
)

func TestAFullDiskLeavesAFileOfAUserAsItWas(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk is not permitted here")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	file := filepath.Join(disk, "file")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.ErrorIs(t, inputfile.Replace(file, []byte(strings.Repeat("x", 2<<20))), syscall.ENOSPC)
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(now))
	entries, err := os.ReadDir(disk)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
