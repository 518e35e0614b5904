// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALoopbackInterfaceThatIsDownIsFound(t *testing.T) {
	t.Parallel()
	require.NoError(t, connectToItself())
	apart := make(chan error, 1)
	tried := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, since it is never unlocked
		err := syscall.Unshare(syscall.CLONE_NEWNET)
		apart <- err
		if err == nil {
			tried <- connectToItself()
		}
	}()
	if err := <-apart; errors.Is(err, syscall.EPERM) {
		t.Skip("a separate network is not permitted here")
	} else {
		require.NoError(t, err)
	}
	require.Error(t, <-tried)
}

func TestTheFileSystemOfTheStateDirectoryIsSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found, err := ThisMachine().Mount(filepath.Join(dir, "not", "there"))
	require.NoError(t, err)
	require.True(t, found.Writable)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, "size=1m"); errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a file system is not permitted here")
	} else {
		require.NoError(t, err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	found, err = ThisMachine().Mount(dir)
	require.NoError(t, err)
	require.Equal(t, Mount{Writable: true}, found)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "more"), 0o700))
}
