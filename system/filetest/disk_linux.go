// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package filetest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// SmallDisk returns the directory, of mode 0700, of a disk of a size such as "4m". The disk lasts as long as the test.
// The test is skipped where mounting a disk is not permitted.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk is not permitted here")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// Fill takes all the space of a small disk with one file, and returns its path. Truncating the file gives the space
// back.
func Fill(t testing.TB, disk string) (ballast string) {
	t.Helper()
	file, err := os.Create(filepath.Join(disk, "ballast"))
	require.NoError(t, err)
	defer file.Close()
	block := make([]byte, 4<<10)
	for err == nil {
		_, err = file.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	return file.Name()
}
