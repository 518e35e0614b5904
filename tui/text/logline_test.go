// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	family = "👨‍👩‍👧"
	flag   = "🇩🇪"
	hand   = "☝🏽"
)

func TestALineOfALogKeepsItsColoursAndNothingThatActs(t *testing.T) {
	t.Parallel()
	red, orange := text.Style{Foreground: text.Indexed(1)}, text.Indexed(202)
	for name, c := range map[string]struct {
		in, want string
		runs     []text.Run
	}{
		"plain":    {"ready", "ready", nil},
		"a colour": {"a \x1b[31mred\x1b[0m b", "a red b", []text.Run{{2, red}, {5, text.Style{}}}},
		"several codes": {"\x1b[1;4;31mx", "x",
			[]text.Run{{0, text.Style{Foreground: text.Indexed(1), Bold: true, Underline: true}}}},
		"256 and true": {"\x1b[38;5;202mx\x1b[48;2;1;2;3my", "xy",
			[]text.Run{{0, text.Style{Foreground: orange}},
				{1, text.Style{Foreground: orange, Background: text.RGB(1, 2, 3)}}}},
		"with colons": {"\x1b[38:2::255:0:0mx\x1b[4:0my", "xy",
			[]text.Run{{0, text.Style{Foreground: text.RGB(255, 0, 0)}}}},
		"bright":         {"\x1b[91mx", "x", []text.Run{{0, text.Style{Foreground: text.Indexed(9)}}}},
		"blink is gone":  {"\x1b[5mx\x1b[8my", "xy", nil},
		"progress":       {"\x1b[31m10%\r20%\r30%\r", "30%", []text.Run{{0, red}}},
		"cursor":         {"a\x1b[2J\x1b[Hb\x1b[?1049hc", "abc", nil},
		"title":          {"\x1b]0;owned\x07after", "after", nil},
		"clipboard":      {"\x1b]52;c;aGk=\x1b\\x", "x", nil},
		"device control": {"\x1bPq#0;2;0\x1b\\x", "x", nil},
		"broken":         {"\x1b[31", "31", nil},
		"nonsense":       {"\x1b[999;1;mx", "x", []text.Run{{0, text.Style{Bold: true}}}},
		"flag":           {"go " + flag, "go " + flag, nil},
		"family":         {family + "!", family + "!", nil},
		"skin tone":      {"x" + hand + "y", "x" + hand + "y", nil},
		"keycap":         {"1️⃣ one", "1️⃣ one", nil},
		"emoji style":    {"❤️ and ⚠️", "❤️ and ⚠️", nil},
		"a lone half":    {"\U0001F1E9 x", " x", nil},
		"a lone joiner":  {"a\u200db", "ab", nil},
		"reordering":     {"user\u202etxt.exe", "usertxt.exe", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean, runs := text.LogLine(c.in)
			require.Equal(t, c.want, clean)
			if len(c.runs) == 0 {
				require.Empty(t, runs)
				return
			}
			require.Equal(t, c.runs, runs)
		})
	}
}

func TestAStyleIsWrittenByOurselves(t *testing.T) {
	t.Parallel()
	require.Equal(t, "x", text.Style{}.Render("x"))
	require.Equal(t, "\x1b[1;38;5;9mx\x1b[m", text.Style{Bold: true, Foreground: text.Indexed(9)}.Render("x"))
	require.Equal(t, "\x1b[38;2;1;2;3;48;5;4mx\x1b[m",
		text.Style{Foreground: text.RGB(1, 2, 3), Background: text.Indexed(4)}.Render("x"))
}

func rows(s string, width int, method ansi.Method) []string {
	var out []string
	for _, row := range text.Rows(s, width, method) {
		out = append(out, s[row.From:row.To])
	}
	return out
}

func TestRowsBreakBetweenWordsAndNeverInACharacter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"one two three", 20, []string{"one two three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one   two", 5, []string{"one", "two"}},
		{"abcdefghij kl", 4, []string{"abcd", "efgh", "ij", "kl"}},
		{"  indented line", 10, []string{"  indented", "line"}},
		{"日本語です", 5, []string{"日本", "語で", "す"}},
		{family + family + family, 4, []string{family + family, family}},
		{flag + flag, 2, []string{flag, flag}},
		{"          ", 4, []string{"    "}},
	} {
		require.Equal(t, c.want, rows(c.in, c.width, ansi.GraphemeWidth), c.in)
	}
	require.Equal(t, []string{family, family}, rows(family+family, 8, ansi.WcWidth), "six columns each")
}

func TestAWindowShowsTheColumnsFromTheLeft(t *testing.T) {
	t.Parallel()
	part, skipped := text.Window("0123456789", 3, 4, ansi.GraphemeWidth)
	require.Equal(t, text.Span{From: 3, To: 7}, part)
	require.Zero(t, skipped)
	part, skipped = text.Window("日本語", 1, 4, ansi.GraphemeWidth)
	require.Equal(t, text.Span{From: 3, To: 6}, part)
	require.Equal(t, 1, skipped)
	require.Equal(t, 6, text.Columns("日本語", ansi.WcWidth))
}

func FuzzALineOfALogIsInert(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b[31mred", "\x1b[38;2;1m", "\x1b]52;c;x\x07", "\x1b\x1b[31m[", "a\tb\rc", "\u202e\u2066",
		"\x9b31m", family + flag + hand, "\xff\x1b\xc3", "e\u0301\u0301\u0301\u0301", "\u1100\u1161",
		"1\ufe0f\u20e3", "\u200d\ufe0f",
		"🏴\U000e0067\U000e0062\U000e007f",
	} {
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, in string, width int) {
		in = strings.ReplaceAll(in, "\n", "")
		out, runs := text.LogLine(in)
		require.True(t, utf8.ValidString(out))
		require.Equal(t, out, ansi.Strip(out), "no escape sequence is left")
		for _, r := range out {
			joins := r == 0x200d || r >= 0xe0020 && r <= 0xe007f
			require.Falsef(t, !joins && unicode.In(r, unicode.Cc, unicode.Cf), "%q acts on the terminal", r)
		}
		at := -1
		for _, run := range runs {
			require.Greater(t, run.Start, at)
			require.LessOrEqual(t, run.Start, len(out))
			at = run.Start
			require.Equal(t, "x", ansi.Strip(run.Style.Render("x")))
		}
		width = 1 + (width%50+50)%50
		for _, method := range []ansi.Method{ansi.WcWidth, ansi.GraphemeWidth} {
			before := 0
			for _, row := range text.Rows(out, width, method) {
				require.GreaterOrEqual(t, row.From, before)
				require.Empty(t, strings.Trim(out[before:row.From], " "), "only spaces are left out")
				part := out[row.From:row.To]
				require.True(t, utf8.ValidString(part))
				if columns := method.StringWidth(part); columns > width {
					cluster, _ := ansi.FirstGraphemeCluster(part, method)
					require.Equal(t, cluster, part, "one character that is wider than the row")
				}
				before = row.To
			}
			require.Empty(t, strings.Trim(out[before:], " "))
		}
	})
}
