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
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// log is a pane that shows ten rows of 36 columns.
func log(t *testing.T, count int, line func(i int) string) *view.Log {
	t.Helper()
	buffer := logbuf.New(logbuf.Limits{})
	t.Cleanup(func() { require.NoError(t, buffer.Close()) })
	for i := range count {
		buffer.Append(logbuf.Line{Text: line(i)})
	}
	v := &view.Log{Theme: theme.New(theme.Options{ASCII: true, NoColor: true}), Stage: "WAIT", Buffer: buffer,
		Reading: view.Reading{Following: true}}
	v.Draw(39, 11)
	return v
}

func numbered(i int) string { return fmt.Sprintf("line %d", i) }

func shown(v *view.Log) []string {
	var lines []string
	for _, line := range strings.Split(ansi.Strip(v.Draw(39, 11)), "\n")[1:11] {
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
	require.Contains(t, v.Draw(60, 11), "pinned - 1 new below")
	v.End()
	require.Equal(t, "line 51", shown(v)[9])
	require.NotContains(t, v.Draw(60, 11), "new below")
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
	v.Search.Pattern, v.Search.Hit = compile(t, "error|here"), -1
	require.Contains(t, v.Draw(39, 11), v.Theme.Match.Render("Error")+" "+v.Theme.Match.Render("here"))
	v.Search.Hit = 0
	require.Contains(t, v.Draw(39, 11), v.Theme.Match.Underline().Render("Error"), "the present hit")
}

func compile(t *testing.T, text string) logbuf.Pattern {
	t.Helper()
	pattern, err := logbuf.Compile(text)
	require.NoError(t, err)
	return pattern
}

func TestAHitInALongLineIsSlidTo(t *testing.T) {
	t.Parallel()
	v := log(t, 30, func(i int) string {
		if i == 12 {
			return strings.Repeat("日本 ", 18_000) + "needle" + strings.Repeat(" x", 18_000)
		}
		return numbered(i)
	})
	v.Search.Pattern = compile(t, "needle")
	v.Show(12)
	require.Contains(t, strings.Join(shown(v), "\n"), "needle")
	v.Show(3)
	require.Contains(t, strings.Join(shown(v), "\n"), "line 3", "a line without a match begins at its start")
	v.Wrap = true
	v.Show(12)
	require.Contains(t, shown(v)[0], "line", "wrapped lines do not slide")
}

func TestALongLineIsWrappedAtWordsToItsEnd(t *testing.T) {
	t.Parallel()
	v := log(t, 1, func(int) string { return strings.Repeat("words ", 15_000) + "end" })
	v.Wrap = true
	rows := shown(v)
	require.Contains(t, rows[9], "end")
	v.Start()
	v.Draw(39, 11)
	require.Equal(t, "words words words words words words", shown(v)[0])
	v.Scroll(5000)
	require.Equal(t, rows, shown(v))
}

func TestOnlyLinesOfALevelAreShown(t *testing.T) {
	t.Parallel()
	v := log(t, 0, nil)
	for i := range 1000 {
		line := logbuf.Line{Text: numbered(i), Level: logbuf.Normal}
		if i%100 == 50 {
			line.Level = logbuf.Warn
		}
		v.Buffer.Append(line)
	}
	v.Least = logbuf.Warn
	require.Equal(t, "! line 50", shown(v)[0])
	require.Equal(t, "! line 950", shown(v)[9])
	require.Contains(t, v.Draw(60, 11), "10 of 1,000 lines")
	v.Scroll(-3)
	require.Equal(t, "! line 50", shown(v)[0])
	v.Buffer.Append(logbuf.Line{Text: "line 1000", Level: logbuf.Failure})
	v.Follow()
	require.Equal(t, "x line 1000", shown(v)[9])
	v.Scroll(-1)
	require.Equal(t, "! line 50", shown(v)[0])
	v.Least = logbuf.Source
	v.Show(950)
	require.Contains(t, strings.Join(shown(v), "\n"), "line 951")
}

func TestTheTextOfAScriptIsFolded(t *testing.T) {
	t.Parallel()
	v := log(t, 0, nil)
	v.Least = logbuf.Debug
	v.Buffer.Append(logbuf.Line{Text: "Running the script:", Level: logbuf.Normal})
	for i := range 41 {
		v.Buffer.Append(logbuf.Line{Text: fmt.Sprintf("  step %d", i), Level: logbuf.Source})
	}
	v.Buffer.Append(logbuf.Line{Text: "its output", Level: logbuf.Normal})
	rows := shown(v)
	require.Equal(t, "Running the script:", rows[0])
	require.Contains(t, rows[1], "> 41 lines of the script, enter unf")
	require.Equal(t, "its output", rows[2])
	v.Least = logbuf.Source
	require.Equal(t, "step 32", shown(v)[0])
}

func TestTimesAreOfTheDayOrSinceTheStartOrNone(t *testing.T) {
	t.Parallel()
	v := log(t, 0, nil)
	v.Zone = time.FixedZone("CEST", 7200)
	at := time.Date(2026, 11, 23, 12, 0, 5, 0, time.UTC)
	v.Buffer.Append(logbuf.Line{Text: "first", Time: at}, logbuf.Line{Text: "then", Time: at.Add(62 * time.Second)})
	require.Contains(t, ansi.Strip(v.Draw(80, 12)), "14:01:07   then")
	v.Times = view.TimeSinceStart
	require.Contains(t, ansi.Strip(v.Draw(80, 12)), "  +1m02s   then")
	v.Times = view.NoTimes
	require.NotContains(t, ansi.Strip(v.Draw(80, 12)), "1m02s")
}

func TestCharactersOfSeveralCodePointsKeepTheLinesStraight(t *testing.T) {
	t.Parallel()
	const family = "👨‍👩‍👧"
	for _, method := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
		for _, wrap := range []bool{true, false} {
			v := log(t, 5, func(i int) string { return strings.Repeat(family+" 🇩🇪 ☝🏽", i*3) })
			v.Widths, v.Wrap = method, wrap
			drawn := v.Draw(39, 11)
			require.Contains(t, drawn, family)
			for _, line := range strings.Split(drawn, "\n") {
				require.Equal(t, 39, method.StringWidth(line), line)
			}
		}
	}
}

func TestALogKeepsTheColoursOfItsLines(t *testing.T) {
	t.Parallel()
	const raw = "\x1b[31mred\x1b[0m plain \x1b[90mgrey\x1b[2J\x1b[47;30mboth"
	clean, _ := text.LogLine(raw)
	coloured, plain := log(t, 0, nil), log(t, 0, nil)
	coloured.Theme = theme.New(theme.Options{})
	for _, v := range []*view.Log{coloured, plain} {
		v.Buffer.Append(logbuf.Line{Text: clean, Raw: raw})
	}
	drawn := coloured.Draw(60, 11)
	for _, part := range []string{"\x1b[38;5;1mred\x1b[m", "\x1b[2mgrey\x1b[m", "\x1b[38;5;0;48;5;7mboth\x1b[m"} {
		require.Contains(t, drawn, part)
	}
	require.NotContains(t, drawn, "\x1b[2J")
	require.NotContains(t, plain.Draw(60, 11), "38;5")
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
