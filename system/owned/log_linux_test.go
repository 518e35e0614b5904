// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLastWordsOfAProcessAreWrittenOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m")
	if errors.Is(err, syscall.EPERM) {
		t.Skip("mounting a small disk is not permitted here")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	path := filepath.Join(disk, "host.log")
	const reserved = 64 << 10
	log, err := OpenLog(path, 1<<20)
	require.NoError(t, err)
	defer log.Close()
	require.NoError(t, log.Reserve(reserved))
	_, err = log.Write([]byte("a line\n"))
	require.NoError(t, err)

	ballast, err := os.Create(filepath.Join(disk, "ballast"))
	require.NoError(t, err)
	defer ballast.Close()
	for err == nil {
		_, err = ballast.Write(make([]byte, 4<<10))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	line := []byte(strings.Repeat("x", 999) + "\n")
	for range 2 * reserved / len(line) { // the lines that repeat while the disk is full
		_, err = log.Write(line)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)

	stderr, err := OpenFile(path, os.O_APPEND|os.O_WRONLY)
	require.NoError(t, err)
	defer stderr.Close()
	words := strings.Repeat("p", reserved-len("panic\n")) + "panic\n"
	n, err := stderr.WriteString(words)
	require.NoError(t, err)
	require.Equal(t, len(words), n)
	require.True(t, strings.HasSuffix(read(t, path), words))

	require.NoError(t, os.Truncate(ballast.Name(), 0))
	_, err = log.Write([]byte("goes on\n"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(read(t, path), "panic\ngoes on\n"))
}
