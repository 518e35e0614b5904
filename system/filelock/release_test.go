// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func locked(t *testing.T, path string) (*os.File, error) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	return file, unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

func TestALockIsFreeAlthoughAProcessThatIsBeingStartedHasTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	file, err := locked(t, path)
	require.NoError(t, err)
	copied, err := unix.Dup(int(file.Fd())) // as a process gets it that is a copy of this one
	require.NoError(t, err)
	defer unix.Close(copied)
	require.NoError(t, Release(file))
	again, err := locked(t, path)
	require.NoError(t, err)
	require.NoError(t, Release(again))
	require.ErrorIs(t, Release(again), os.ErrClosed)
}
