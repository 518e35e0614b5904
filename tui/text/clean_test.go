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

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

func TestCleanTakesOutWhatActsOnTheTerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain text stays":                      {"apply 3 objects\nok", "apply 3 objects\nok"},
		"colours go":                            {"\x1b[1;31mred\x1b[0m text", "red text"},
		"the cursor is not moved":               {"a\x1b[2J\x1b[Hb", "ab"},
		"the title is not set":                  {"\x1b]0;owned\x07after", "after"},
		"the clipboard is not written":          {"x\x1b]52;c;aGk=\x1b\\y", "xy"},
		"a link shows its text":                 {"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		"an unended sequence hides no text":     {"\x1b]0;everything after", "0;everything after"},
		"an unended sequence ends at the line":  {"\x1b[12\nnext", "12\nnext"},
		"eight-bit controls go":                 {"a\u009b31mb\u009d0;t", "a31mb0;t"},
		"a progress line shows its last state":  {"10%\r20%\r30%\r", "30%"},
		"carriage return and line feed are one": {"a\r\nb\r\n", "a\nb\n"},
		"tabs become spaces to the next stop":   {"a\tb", "a   b"},
		"backspaces and bells go":               {"ab\b\b\ac", "abc"},
		"text cannot be reordered":              {"user\u202etxt.exe", "usertxt.exe"},
		"invalid bytes are marked":              {"a\xff\xfeb", "a\ufffd\ufffdb"},
		"accents stay":                          {"e\u0301t\u00e9", "e\u0301t\u00e9"},
		"towers of accents are cut": {"e" + strings.Repeat("\u0301", 40),
			"e" + strings.Repeat("\u0301", 3)},
		"wide characters stay": {"日本 ✓ 🚀", "日本 ✓ 🚀"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, text.Clean(c.in))
		})
	}
}

func TestLineJoinsWhatHasSeveralLines(t *testing.T) {
	t.Parallel()
	require.Equal(t, "cannot apply: field x", text.Line("\n cannot apply:\n\n  field x \n"))
	require.Equal(t, "Say hello", text.FirstLine("\n Say hello \n\nlong story"))
}

func TestCleanMessageReachesEveryString(t *testing.T) {
	t.Parallel()
	event := &deckv1.Event{Kind: &deckv1.Event_Application{Application: &deckv1.Application{
		Name: "a\x1b[2Jb", Labels: map[string]string{"k\x07": "v\x1bc"}, RunningVersions: []string{"\x1b[31mv1"},
	}}}
	text.CleanMessage(event)
	app := event.GetApplication()
	require.Equal(t, "ab", app.GetName())
	require.Equal(t, map[string]string{"k": "v"}, app.GetLabels())
	require.Equal(t, []string{"v1"}, app.GetRunningVersions())

	deployment := &deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{
		Commit: &deckv1.Commit{Message: "x\x1b[5mblink"}, Stages: []*deckv1.Stage{{Name: "S\x00T"}},
	}}}
	text.CleanMessage(deployment)
	require.Equal(t, "xblink", deployment.GetDeployment().GetCommit().GetMessage())
	require.Equal(t, "ST", deployment.GetDeployment().GetStages()[0].GetName())
}

func TestCuttingAndPaddingCountColumns(t *testing.T) {
	t.Parallel()
	require.Equal(t, "日…", text.Cut("日本語", 4, "…"))
	require.Equal(t, "日… ", text.Pad("日本語", 4, "…"))
	require.Equal(t, "…/c/file", text.CutLeft("/a/b/c/file", 8, "…"))
	require.Equal(t, "  42", text.PadLeft("42", 4, "…"))
	require.Equal(t, []string{"ab", "c"}, text.Chop("abc", 2))
	require.Equal(t, "", text.Cut("abc", 0, "…"))
}

func FuzzCleanedTextIsInert(f *testing.F) {
	for _, seed := range []string{
		"plain", "\x1b[31mred", "\x1b]52;c;x\x07", "\x1bP1;2|x\x1b\\", "\x1b\x1b[31m[", "a\tb\rc", "\u202e\u2066",
		"\x9b31m",
		"👨‍👩‍👧 🇩🇪 ☝🏽", "\xff\x1b\xc3", "e\u0301\u0301\u0301\u0301",
		"\u1100\u1161", "\x1b(B\x1b#8\x1bc", "\u0600x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := text.Clean(in)
		require.True(t, utf8.ValidString(out))
		require.Equal(t, out, text.Clean(out), "cleaning again changes nothing")
		for _, r := range out {
			require.Falsef(t, r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf), "%q acts on the terminal", r)
		}
		for _, line := range strings.Split(out, "\n") {
			require.Equal(t, line, ansi.Strip(line), "no escape sequence is left")
			require.LessOrEqual(t, text.Width(text.Pad(line, 10, "…")), 10)
		}
	})
}
