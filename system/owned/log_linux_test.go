// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestTheLastWordsOfAProcessAreWrittenOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "4m")
	path := filepath.Join(disk, "host.log")
	const reserved = 64 << 10
	log, err := OpenLog(path, 1<<20)
	require.NoError(t, err)
	defer log.Close()
	require.NoError(t, log.Reserve(reserved))
	_, err = log.Write([]byte("a line\n"))
	require.NoError(t, err)

	ballast := filetest.Fill(t, disk)
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

	require.NoError(t, os.Truncate(ballast, 0))
	_, err = log.Write([]byte("goes on\n"))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(read(t, path), "panic\ngoes on\n"))
}
