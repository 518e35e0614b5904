// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/logbuf"
)

func numbered(i int) logbuf.Line {
	return logbuf.Line{Time: time.Unix(int64(i), 5), Severity: logbuf.Severity(i % 4),
		Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))}
}

func open(t *testing.T, limits logbuf.Limits) *logbuf.Buffer {
	t.Helper()
	b := logbuf.New(limits)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestEveryLineComesBackFromMemoryAndFromDisk(t *testing.T) {
	t.Parallel()
	const count = 30_000
	b := open(t, logbuf.Limits{Memory: 256 << 10})
	for i := range count {
		b.Append(numbered(i))
		require.LessOrEqual(t, b.Memory(), 256<<10+128<<10)
	}
	first, next := b.Span()
	require.Equal(t, 0, first)
	require.Equal(t, count, next)
	require.NoError(t, b.Err())

	for _, from := range []int{0, 1, 777, 15_000, count - 100} {
		lines := b.Lines(from, 100)
		require.Len(t, lines, 100)
		for i, line := range lines {
			require.True(t, numbered(from+i).Time.Equal(line.Time))
			require.Equal(t, numbered(from+i).Text, line.Text)
			require.Equal(t, numbered(from+i).Severity, line.Severity)
		}
	}
	require.Len(t, b.Lines(count-10, 100), 10)
	require.Empty(t, b.Lines(count, 100))
}

func TestTheOldestLinesGoWhenTheDiskBoundIsReached(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 128 << 10, Disk: 512 << 10})
	const count = 60_000
	for i := range count {
		b.Append(numbered(i))
	}
	first, next := b.Span()
	require.Positive(t, first)
	require.Equal(t, count, next)
	for from := first; from < next; from += 997 {
		require.Equal(t, numbered(from).Text, b.Lines(from, 1)[0].Text)
	}
	require.Equal(t, numbered(first).Text, b.Lines(0, 1)[0].Text, "reading starts at the oldest line kept")
	require.NoError(t, b.Err())
}

func TestEmptyLinesAreBoundedToo(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 64 << 10, Disk: 64 << 10})
	for range 200_000 {
		b.Append(logbuf.Line{})
	}
	require.LessOrEqual(t, b.Memory(), 192<<10)
}

func TestAnEndlessLineIsCut(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{LineBytes: 10})
	b.Append(logbuf.Line{Text: strings.Repeat("é", 100)})
	require.Equal(t, "ééééé", b.Lines(0, 1)[0].Text)
}

func TestNoFileStaysBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	b := logbuf.New(logbuf.Limits{Memory: 1 << 10})
	for i := range 10_000 {
		b.Append(numbered(i))
	}
	require.NotEmpty(t, b.Lines(0, 1))
	require.NoError(t, b.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	b.Append(numbered(1))
	require.Empty(t, b.Lines(0, 10))
	require.NoError(t, b.Close(), "closing twice is fine")
}

func TestWithoutADiskTheOldestLinesAreDropped(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	b := logbuf.New(logbuf.Limits{Memory: 128 << 10})
	for i := range 20_000 {
		b.Append(numbered(i))
	}
	require.ErrorContains(t, b.Err(), "temporary file")
	first, next := b.Span()
	require.Positive(t, first)
	require.Equal(t, numbered(next-1).Text, b.Lines(next-1, 1)[0].Text)
	require.Equal(t, numbered(first).Text, b.Lines(first, 1)[0].Text)
	require.LessOrEqual(t, b.Memory(), 256<<10)
	require.NoError(t, b.Close())
}

func TestFindGoesBothWaysAndRound(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 64 << 10})
	for i := range 5_000 {
		text := "nothing"
		if i%1000 == 500 {
			text = fmt.Sprintf("Error: number %d", i)
		}
		b.Append(logbuf.Line{Text: text})
	}
	find := func(q logbuf.Query, from int, forward bool) int {
		line, found := b.Find(context.Background(), q, from, forward)
		if !found {
			return -1
		}
		return line
	}
	require.Equal(t, 500, find("error", 0, true))
	require.Equal(t, 1500, find("error", 501, true))
	require.Equal(t, 500, find("error", 4501, true), "on from the start")
	require.Equal(t, 1500, find("error", 2499, false))
	require.Equal(t, 4500, find("error", 499, false), "on from the end")
	require.Equal(t, 500, find("Error", 0, true))
	require.Equal(t, -1, find("ERROR", 0, true), "a capital letter asks for case")
	require.Equal(t, -1, find("absent", 0, true))

	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_, found := b.Find(stopped, "error", 0, true)
	require.False(t, found)
}

func TestMatchesAreByteRangesOfTheLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, [][2]int{{0, 2}, {2, 4}}, logbuf.Query("aa").Matches("aAaaa"))
	require.Nil(t, logbuf.Query("").Matches("abc"))
	line := "İstanbul ERROR" // its lower case is longer
	m := logbuf.Query("error").Matches(line)
	require.Len(t, m, 1)
	require.Equal(t, "ERROR", line[m[0][0]:m[0][1]])
}

func TestAppendingAndReadingAtTheSameTime(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 64 << 10})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range 5_000 {
			b.Append(numbered(i))
		}
	})
	for range 200 {
		first, next := b.Span()
		for _, line := range b.Lines((first+next)/2, 10) {
			require.NotEmpty(t, line.Text)
		}
	}
	writer.Wait()
}
