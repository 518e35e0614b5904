// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogIsBoundedAndItsNewestLinesStay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "host.log")
	var written []string
	for opened := range 3 { // the bound holds across restarts
		log, err := OpenLog(path, 1000)
		require.NoError(t, err)
		for n := range 100 {
			line := fmt.Sprintf("%d line %02d\n", opened, n)
			written = append(written, line)
			_, err := log.Write([]byte(line))
			require.NoError(t, err)
		}
		require.NoError(t, log.Close())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2)
	before, now := read(t, path+".1"), read(t, path)
	require.LessOrEqual(t, len(before), 1000)
	require.LessOrEqual(t, len(now), 1000)
	require.NotEmpty(t, now)
	require.True(t, strings.HasSuffix(strings.Join(written, ""), before+now), "the newest lines, each once and whole")
	require.Greater(t, len(before)+len(now), 1000)
}

func TestALogKeepsAFileThatAnotherProcessWritesTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "host.log")
	// What a program has as its standard error.
	direct, err := OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	require.NoError(t, err)
	defer direct.Close()
	log, err := OpenLog(path, 100)
	require.NoError(t, err)
	defer log.Close()
	_, err = direct.WriteString(strings.Repeat("x", 300) + "\n")
	require.NoError(t, err)
	n, err := log.Write([]byte("one\n"))
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Equal(t, strings.Repeat("x", 99)+"\n", read(t, path+".1"))
	_, err = direct.WriteString("panic\n")
	require.NoError(t, err)
	require.Equal(t, "one\npanic\n", read(t, path))
	n, err = log.Write([]byte(strings.Repeat("y", 500)))
	require.NoError(t, err)
	require.Equal(t, 500, n)
	require.Equal(t, strings.Repeat("y", 100), read(t, path))
}

func TestALogWhoseOldLinesCannotBeKeptIsBoundedAllTheSame(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "host.log")
	elsewhere := filepath.Join(t.TempDir(), "documents")
	require.NoError(t, os.WriteFile(elsewhere, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(elsewhere, path+".1"))
	log, err := OpenLog(path, 1000)
	require.NoError(t, err)
	defer log.Close()
	for range 300 {
		_, err := log.Write([]byte("line\n"))
		require.NoError(t, err)
	}
	require.Equal(t, "mine", read(t, elsewhere), "a link is not followed")
	require.Contains(t, read(t, path), "could not be kept: "+path+".1 is a symbolic link")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(1000))
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
