// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf_test

import (
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
	line := logbuf.Line{Time: time.Unix(int64(i), 5), Severity: logbuf.Severity(i % 4), Level: logbuf.Level(i % 3),
		Text: fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%90))}
	line.Raw = line.Text
	if i%7 == 0 {
		line.Raw = "\x1b[31m" + line.Text
	}
	return line
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
			require.Equal(t, numbered(from+i).Level, line.Level)
			require.Equal(t, numbered(from+i).Raw, line.Raw)
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

func TestALineOfNinetyThousandCharactersIsKeptWhole(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 64 << 10})
	long := strings.Repeat("日本語", 30_000)
	b.Append(logbuf.Line{Text: "before"}, logbuf.Line{Text: long, Raw: "\x1b[1m" + long}, logbuf.Line{Text: "behind"})
	for range 10_000 {
		b.Append(logbuf.Line{Text: "more"})
	}
	lines := b.Lines(0, 3)
	require.Equal(t, "before", lines[0].Text)
	require.True(t, long == lines[1].Text)
	require.True(t, "\x1b[1m"+long == lines[1].Raw)
	require.Equal(t, "behind", lines[2].Text)
}

func TestLinesAreSelectedByLevel(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 64 << 10})
	const count = 20_000
	for i := range count {
		line := numbered(i)
		if line.Level = logbuf.Normal; i%1000 == 999 {
			line.Level = logbuf.Warn
		}
		if i == 7500 {
			line.Level = logbuf.Failure
		}
		b.Append(line)
	}
	require.Equal(t, count, b.Count(logbuf.Source))
	require.Equal(t, 21, b.Count(logbuf.Warn))
	var numbers []int
	for _, line := range b.Select(6_000, 4, logbuf.Warn) {
		require.Equal(t, numbered(line.Number).Text, line.Text)
		numbers = append(numbers, line.Number)
	}
	require.Equal(t, []int{6999, 7500, 7999, 8999}, numbers)
	require.Len(t, b.Select(0, 10, logbuf.Failure), 1)
	before, found := b.Before(7999, logbuf.Warn)
	require.True(t, found)
	require.Equal(t, 7500, before)
	_, found = b.Before(7500, logbuf.Failure)
	require.False(t, found)
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
