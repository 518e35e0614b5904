// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 5, time.UTC)

func openLog(t *testing.T) (log *Log, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "0.log")
	log, err := OpenLog(path)
	require.NoError(t, err)
	return log, path
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func TestALogHasTheFormatOfContainerRuntimes(t *testing.T) {
	t.Parallel()
	log, path := openLog(t)
	log.write([]byte("one\ntw"), noon)
	log.write([]byte("o\n\nthr"), noon)
	const stamp = "2026-01-02T12:00:00.000000005Z stdout F "
	require.Equal(t, stamp+"one\n"+stamp+"two\n"+stamp+"\n", read(t, path))
	require.NoError(t, log.Close())
	require.True(t, strings.HasSuffix(read(t, path), " stdout F thr\n"), "what had no end of line is there")
	require.Equal(t, "one\ntwo\n\nthr", log.Message())
	log.write([]byte("late\n"), noon)
	require.NotContains(t, read(t, path), "late")
}

func TestALongLineIsSeveralEntries(t *testing.T) {
	t.Parallel()
	log, path := openLog(t)
	log.write([]byte(strings.Repeat("x", maxLine)), noon)
	log.write([]byte("end\n"), noon)
	lines := strings.Split(read(t, path), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], " stdout P xxx")
	require.True(t, strings.HasSuffix(lines[1], " stdout F end"))
}

func TestALogIsBounded(t *testing.T) {
	t.Parallel()
	log, path := openLog(t)
	line := []byte(strings.Repeat("y", maxLine-1) + "\n")
	for range 3 * maxLog / len(line) {
		log.write(line, noon)
	}
	for _, file := range []string{path, Rotated(path)} {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(maxLog))
		require.Positive(t, info.Size())
	}
}

func TestTheMessageIsTheEndOfTheOutputWithinBounds(t *testing.T) {
	t.Parallel()
	log, _ := openLog(t)
	for range 1000 {
		log.write([]byte("short\n"), noon)
	}
	require.Equal(t, maxMessageLines, strings.Count(log.Message(), "\n"))
	log.write([]byte(strings.Repeat("z", 5*maxMessage)+"\nlast\n"), noon)
	require.Len(t, log.Message(), maxMessage)
	require.True(t, strings.HasSuffix(log.Message(), "zzz\nlast\n"))
}
