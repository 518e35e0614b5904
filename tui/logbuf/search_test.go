// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/logbuf"
)

func compile(t testing.TB, text string) logbuf.Pattern {
	t.Helper()
	p, err := logbuf.Compile(text)
	require.NoError(t, err)
	return p
}

func TestASearchFindsWhatLineByLineIsFound(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{Memory: 16 << 10})
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"Ready", "ready", "refused", "ERROR", "pod", "2 of 4", "Straße", "STRASSE", "日本", "a.b", "axb",
		""}
	const count = 5_000
	var lines []string
	for range count {
		var line []string
		for range random.IntN(6) {
			line = append(line, words[random.IntN(len(words))])
		}
		lines = append(lines, strings.Join(line, " "))
		b.Append(logbuf.Line{Text: lines[len(lines)-1]})
	}
	for _, text := range []string{"ready", "Ready", "ready|refused", "pod refused", "strasse", "straße", "STRASSE", "日",
		"a.b", `a\.b`, "^ready$", `\S+ 2 of 4$`, "absent", `\d of \d`,
		"(ready|pod) (error|2 of)", "x{2}|r+efused", "(pod)? ready", "e|日", "axb|straße"} {
		flags := "(?i)"
		if strings.ContainsAny(strings.ReplaceAll(text, `\S`, ""), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			flags = ""
		}
		plain := regexp.MustCompile(flags + text)
		var want []int
		for i, line := range lines {
			if plain.MatchString(line) {
				want = append(want, i)
			}
		}
		hits := b.Search(context.Background(), compile(t, text), logbuf.Source, logbuf.Hits{}, nil)
		require.Equal(t, want, hits.Lines, text)
		require.Equal(t, count, hits.Next)
	}
}

func TestASearchGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	b := open(t, logbuf.Limits{})
	p := compile(t, "refused")
	b.Append(logbuf.Line{Text: "connection refused"}, logbuf.Line{Text: "ready"})
	first := b.Search(context.Background(), p, logbuf.Source, logbuf.Hits{}, nil)
	require.Equal(t, []int{0}, first.Lines)
	b.Append(logbuf.Line{Text: "Refused again", Level: logbuf.Warn})
	more := b.Search(context.Background(), p, logbuf.Source, first, nil)
	require.Equal(t, []int{0, 2}, more.Lines)
	require.Equal(t, []int{0}, first.Lines, "what was returned does not change")
	require.Equal(t, []int{2}, b.Search(context.Background(), p, logbuf.Warn, logbuf.Hits{}, nil).Lines)

	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	require.Empty(t, b.Search(stopped, p, logbuf.Source, logbuf.Hits{}, nil).Lines)
}

func TestHitsAreVisitedBothWaysAndRound(t *testing.T) {
	t.Parallel()
	hits := logbuf.Hits{Lines: []int{3, 7, 20}}
	for _, c := range []struct {
		line    int
		forward bool
		want    int
	}{{0, true, 0}, {3, true, 0}, {4, true, 1}, {21, true, 0}, {21, false, 2}, {20, false, 2}, {19, false, 1},
		{2, false, 2}} {
		require.Equal(t, c.want, hits.At(c.line, c.forward), c)
	}
	require.Equal(t, -1, logbuf.Hits{}.At(0, true))
}

func TestAPatternThatIsNoExpressionSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"f(x":  `a bracket ( has no end; \( finds a bracket`,
		"x)":   `a bracket ) has no start; \) finds a bracket`,
		"[a":   `a bracket [ has no end; \[ finds a bracket`,
		"*":    `* repeats nothing; \* finds it`,
		`a\`:   `a backslash at the end; \\ finds a backslash`,
		`\pX`:  `invalid character class range: \pX`,
		"(?<x": "(?<x",
	} {
		_, err := logbuf.Compile(text)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "no regular expression: ")
	}
	require.True(t, compile(t, "").Empty())
	require.Nil(t, compile(t, "").Matches("abc"))
}

func TestMatchesAreByteRangesOfTheLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, [][2]int{{0, 2}, {2, 4}}, compile(t, "aa").Matches("aAaaa"))
	require.Equal(t, [][2]int{{1, 2}}, compile(t, "a*").Matches("xax"), "an empty match marks nothing")
	line := "İstanbul ERROR" // its lower case is longer
	m := compile(t, "error").Matches(line)
	require.Len(t, m, 1)
	require.Equal(t, "ERROR", line[m[0][0]:m[0][1]])
	require.Nil(t, compile(t, "Error").Matches(line), "a capital letter asks for case")
}

// million is a log of a million lines of about eighty bytes.
func million(b *testing.B) *logbuf.Buffer {
	b.Helper()
	buffer := logbuf.New(logbuf.Limits{})
	b.Cleanup(func() { require.NoError(b, buffer.Close()) })
	batch := make([]logbuf.Line, 0, 1000)
	for i := range 1_000_000 {
		batch = append(batch, logbuf.Line{Level: logbuf.Normal, Text: fmt.Sprintf(
			"pod checkout-6f7c9-%05d: readiness probe %d: dial tcp 10.8.3.%d:8080: connection lost",
			i%99999, i, i%255)})
		if len(batch) == cap(batch) {
			buffer.Append(batch...)
			batch = batch[:0]
		}
	}
	require.NoError(b, buffer.Err())
	return buffer
}

// cpu is what the process has used so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkSearchInAMillionLines looks for what is nowhere.
func BenchmarkSearchInAMillionLines(b *testing.B) {
	buffer := million(b)
	for name, text := range map[string]string{"literal": "refused", "literal with case": "Refused",
		"expression":               "refused|denied",
		"expression with one text": `ready: \d+ of \d+`} {
		p := compile(b, text)
		b.Run(name, func(b *testing.B) {
			begin := cpu(b)
			for b.Loop() {
				if len(buffer.Search(context.Background(), p, logbuf.Source, logbuf.Hits{}, nil).Lines) > 0 {
					b.Fatal("found")
				}
			}
			b.ReportMetric(float64((cpu(b)-begin).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	buffer := logbuf.New(logbuf.Limits{})
	defer func() { require.NoError(b, buffer.Close()) }()
	line := logbuf.Line{Text: strings.Repeat("x", 80), Level: logbuf.Normal}
	for b.Loop() {
		buffer.Append(line)
	}
}

func TestASearchFindsAllWhileTheLogGrowsAndReportsHowFarItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"status 500", `status [45]\d\d`, `[45]\d\d$`} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			b := open(t, logbuf.Limits{Memory: 256 << 10})
			const count = 60_000
			grow := func(from, to int) {
				for i := from; i < to; i++ {
					b.Append(logbuf.Line{Text: fmt.Sprintf("request %d of a client that waits, status %d", i,
						200+300*(i%2))})
				}
			}
			grow(0, count/2)
			var growing sync.WaitGroup
			growing.Go(func() { grow(count/2, count) })
			pattern, reports, last := compile(t, text), 0, 0.0
			hits := b.Search(context.Background(), pattern, logbuf.Source, logbuf.Hits{}, func(share float64) {
				reports++
				last = share
			})
			growing.Wait()
			hits = b.Search(context.Background(), pattern, logbuf.Source, hits, nil)
			require.Len(t, hits.Lines, count/2)
			for i, line := range hits.Lines {
				require.Equal(t, 2*i+1, line)
			}
			require.GreaterOrEqual(t, reports, 1)
			require.Greater(t, last, 0.0)
		})
	}
}
