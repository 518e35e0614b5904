// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// log is a pane that shows ten rows of 36 columns.
func log(t *testing.T, count int, text func(i int) string) *view.Log {
	t.Helper()
	buffer := logbuf.New(logbuf.Limits{})
	t.Cleanup(func() { require.NoError(t, buffer.Close()) })
	for i := range count {
		buffer.Append(logbuf.Line{Text: text(i)})
	}
	v := &view.Log{Theme: theme.New(theme.Options{ASCII: true, NoColor: true}), Stage: "WAIT", Buffer: buffer,
		Reading: view.Reading{Following: true}}
	v.Draw(40, 12)
	return v
}

func numbered(i int) string { return fmt.Sprintf("line %d", i) }

func shown(v *view.Log) []string {
	var lines []string
	for _, line := range strings.Split(ansi.Strip(v.Draw(40, 12)), "\n")[1:11] {
		lines = append(lines, strings.TrimSpace(strings.Trim(line, "|#")))
	}
	return lines
}

func TestTheLogFollowsItsEnd(t *testing.T) {
	t.Parallel()
	v := log(t, 50, numbered)
	require.Equal(t, "line 49", shown(v)[9])
	v.Buffer.Append(logbuf.Line{Text: "line 50"})
	require.Equal(t, "line 50", shown(v)[9])
}

func TestScrollingPinsTheLogUntilItIsFollowedAgain(t *testing.T) {
	t.Parallel()
	v := log(t, 50, numbered)
	v.Scroll(-1)
	require.False(t, v.Following)
	require.Equal(t, "line 48", shown(v)[9])
	v.Buffer.Append(logbuf.Line{Text: "line 50"})
	require.Equal(t, "line 48", shown(v)[9], "what is read stays in place")
	v.Scroll(100)
	require.Equal(t, "line 50", shown(v)[9])
	v.Buffer.Append(logbuf.Line{Text: "line 51"})
	require.Equal(t, "line 50", shown(v)[9], "also at the end")
	require.Contains(t, v.Draw(60, 12), "pinned - 1 new below")
	v.End()
	require.Equal(t, "line 51", shown(v)[9])
	require.NotContains(t, v.Draw(60, 12), "new below")
	v.Follow()
	v.Buffer.Append(logbuf.Line{Text: "line 52"})
	require.Equal(t, "line 52", shown(v)[9])
	v.Start()
	require.Equal(t, "line 0", shown(v)[0])
	v.Page(1)
	require.Equal(t, "line 9", shown(v)[0])
	v.Scroll(-100)
	require.Equal(t, "line 0", shown(v)[0])
}

func TestWrappedLinesScrollByRows(t *testing.T) {
	t.Parallel()
	v := log(t, 20, func(i int) string { return fmt.Sprintf("%02d", i) + strings.Repeat("x", 70) })
	v.Wrap = true
	rows := shown(v)
	require.Contains(t, rows[8], "19xx")
	require.Contains(t, rows[9], `\`)
	v.Scroll(-1)
	require.Contains(t, shown(v)[9], "19xx")
	v.Scroll(-1)
	require.Contains(t, shown(v)[8], "18xx")
	v.Show(10)
	require.Contains(t, strings.Join(shown(v), "\n"), "10xx")
}

func TestAnUnwrappedLogSlidesSideways(t *testing.T) {
	t.Parallel()
	v := log(t, 1, func(int) string { return strings.Repeat("0123456789", 10) })
	require.True(t, strings.HasSuffix(shown(v)[0], "~"))
	v.Slide(85)
	require.Equal(t, "567890123456789", shown(v)[0])
	v.Slide(-1000)
	require.True(t, strings.HasPrefix(shown(v)[0], "0123"))
}

func TestMatchesStandOut(t *testing.T) {
	t.Parallel()
	v := log(t, 1, func(int) string { return "an Error here" })
	v.Search.Query = "error"
	require.Contains(t, v.Draw(40, 12), v.Theme.Match.Render("Error"))
}

func TestDurationsAreShort(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0ms": 0, "40ms": 40 * time.Millisecond, "0.9s": 999 * time.Millisecond, "9.9s": 9999 * time.Millisecond,
		"10s": 10 * time.Second, "59s": 59999 * time.Millisecond, "1m00s": time.Minute,
		"59m59s": time.Hour - time.Second,
		"1h00m":  time.Hour, "1d00h": 24 * time.Hour, "99d23h": 100*24*time.Hour - time.Second,
	} {
		require.Equal(t, want, view.Duration(d))
		require.LessOrEqual(t, len(view.Duration(d)), 6)
	}
	require.Equal(t, "just now", view.Age(59*time.Second))
	require.Equal(t, "2h ago", view.Age(2*time.Hour+time.Minute))
	require.Equal(t, "31M", view.Bytes(31<<20))
	require.Equal(t, "-", view.Bytes(0))
}
