// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestOptionsComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
	high, err := theme.Choose("high-contrast")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		environ []string
		want    theme.Options
	}{
		"a usual terminal":               {[]string{"TERM=xterm-256color"}, theme.Options{}},
		"NO_COLOR with any value":        {[]string{"NO_COLOR=please"}, theme.Options{NoColor: true}},
		"an empty NO_COLOR says nothing": {[]string{"NO_COLOR="}, theme.Options{}},
		"a dumb terminal":                {[]string{"TERM=dumb"}, theme.Options{NoColor: true, ASCII: true}},
		"the console of Linux":           {[]string{"TERM=linux"}, theme.Options{ASCII: true}},
		"ASCII on request":               {[]string{"PIPEDECK_ASCII=1"}, theme.Options{ASCII: true}},
		"ASCII switched off":             {[]string{"PIPEDECK_ASCII=0"}, theme.Options{}},
		"reduced motion":                 {[]string{"PIPEDECK_REDUCED_MOTION=1"}, theme.Options{ReducedMotion: true}},
		"large":                          {[]string{"PIPEDECK_BIG=1"}, theme.Options{Big: true}},
		"high contrast":                  {[]string{"PIPEDECK_THEME=high-contrast"}, theme.Options{Choice: high}},
		"the last value counts": {[]string{"PIPEDECK_THEME=dark", "PIPEDECK_THEME=high-contrast"},
			theme.Options{Choice: high}},
		"a light background by number":     {[]string{"COLORFGBG=0;15"}, theme.Options{Light: true}},
		"a light background after default": {[]string{"COLORFGBG=0;default;7"}, theme.Options{Light: true}},
		"a dark background by number":      {[]string{"COLORFGBG=15;0"}, theme.Options{}},
		"the background of Solarized Dark": {[]string{"COLORFGBG=12;8"}, theme.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := theme.FromEnvironment(c.environ)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestAnUnknownThemeIsAnErrorThatListsThemes(t *testing.T) {
	t.Parallel()
	_, err := theme.FromEnvironment([]string{"PIPEDECK_THEME=drak"})
	require.EqualError(t, err, `unknown theme "drak"; themes are auto, dark, light, high-contrast, colour-blind, `+
		`colour-blind-dark, colour-blind-light, or a file such as ./my-theme.yaml`)
}

func TestAThemeFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"one colour over a base": {"base: light\nrunning: \"#004488\"\n", ""},
		"another background":     {"base: high-contrast\n# navy\nbackground: \"#000033\"\n", ""},
		"an empty file":          {"# nothing\n", "FILE:1: is empty; write a line such as: base: dark"},
		"a list":                 {"- dark\n", `FILE:1: has no lines such as: text: "#e8eaed"`},
		"an unknown base": {"base: drak\n", `FILE:1: unknown base "drak"; bases are dark, light, high-contrast, ` +
			`colour-blind-dark, colour-blind-light`},
		"an unknown name": {"base: dark\nrunnning: \"#004488\"\n", `FILE:2: unknown name "runnning"; names are base, ` +
			`background, text, dim, faint, border, focus, ok, running, waiting, failed, rollback, info, selection`},
		"a colour without quotes": {"running: #004488\n",
			`FILE:1: running has no colour; write it in quotes: "#7ee2a0"`},
		"what is no colour": {"running: blue\n", `FILE:1: running: "blue" is not a colour such as #7ee2a0`},
		"words that cannot be read": {"base: dark\n\ndim: \"#555555\"\n",
			"FILE:3: dim #555555 has a contrast of 1.6:1 on #2b3a4d; words need 4.5:1"},
		"frames that cannot be seen": {"border: \"#303030\"\n",
			"FILE:1: border #303030 has a contrast of 1.1:1 on #002b36; frames need 3.0:1"},
		"a background that hides the words of the base": {"base: dark\nbackground: \"#ffc857\"\n",
			"FILE:2: text #e8eaed has a contrast of 1.3:1 on #ffc857; words need 4.5:1"},
		"no YAML": {"a: b: c\n", "FILE: mapping values are not allowed in this context"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "my.yaml")
			require.NoError(t, os.WriteFile(file, []byte(c.content), 0o600))
			_, err := theme.Choose(file)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, strings.ReplaceAll(c.want, "FILE", file))
		})
	}
	_, err := theme.Choose("./none.yaml")
	require.ErrorContains(t, err, "read the theme: open ./none.yaml")
}

func TestOnlyAChoiceForBothBackgroundsAsksForIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"": true, "auto": true, "colour-blind": true, "dark": false, "light": false,
		"high-contrast": false, "colour-blind-light": false} {
		choice, err := theme.Choose(name)
		require.NoError(t, err)
		require.Equal(t, want, choice.DependsOnBackground(), name)
		dark, light := theme.New(theme.Options{Choice: choice}), theme.New(theme.Options{Choice: choice, Light: true})
		require.Equal(t, want, dark.Good.Render("x") != light.Good.Render("x"), name)
	}
}

// colored finds a sequence with a colour.
const colored = `\[(\d+;)*[34]\d`

func TestWordsHaveNoColourWhereThereAreSixteen(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{Depth: theme.Colors16})
	eachStyle(th, func(name string, style theme.Style) {
		if name != "BorderFocused" {
			require.NotRegexpf(t, colored, style.Render("word"), "%s", name)
		}
	})
	require.Regexp(t, `^\x1b\[1;3[1-6]mword\x1b\[m$`, th.BorderFocused.Render("word"))
	tones := reflect.ValueOf(th.Tones)
	for i := range tones.NumField() {
		tone := tones.Field(i).Interface().(theme.Tone)
		require.NotRegexp(t, colored, tone.Render("word"), tones.Type().Field(i).Name)
		require.Regexp(t, `^(\x1b\[(1|1;3[1-6]|3[1-6])m)?sign(\x1b\[m)?$`, tone.Sign("sign"))
	}
	require.Equal(t, "\x1b[32m✓\x1b[m", th.Tones.Good.Sign("✓"))
}

func TestASelectedRowKeepsTheColoursOfItsParts(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{})
	row := th.Select("a "+th.Good.Render("✓")+" b", true)
	selected := "\x1b[1;38;2;232;234;237;48;2;43;58;77m"
	require.Equal(t, selected+"a \x1b[38;2;126;226;160m✓\x1b[m"+selected+" b\x1b[m", row)
	require.Equal(t, "\x1b[1ma\x1b[m", theme.New(theme.Options{NoColor: true}).Select("a", true))
}

func TestOnlyAPaintedThemeHasAGround(t *testing.T) {
	t.Parallel()
	high, err := theme.Choose("high-contrast")
	require.NoError(t, err)
	require.Equal(t, "x", theme.New(theme.Options{}).Ground("x"))
	ground := "\x1b[38;2;255;255;255;48;2;0;0;0m"
	require.Equal(t, ground+"x\x1b[m\n"+ground+"y\x1b[m", theme.New(theme.Options{Choice: high}).Ground("x\ny"))
}

func TestTheASCIISetIsASCII(t *testing.T) {
	t.Parallel()
	eachGlyph(t, theme.New(theme.Options{ASCII: true}).Glyphs, func(field, glyph string) {
		for _, r := range glyph {
			require.Lessf(t, r, rune(0x7f), "%s is %q", field, glyph)
		}
	})
}

func TestIconsTakeOneColumnInBothWaysOfMeasuring(t *testing.T) {
	t.Parallel()
	eachGlyph(t, theme.New(theme.Options{}).Glyphs, func(field, glyph string) {
		want := 1
		if field == "Fork" || field == "Last" {
			want = 2
		}
		require.Equalf(t, want, ansi.StringWidth(glyph), "%s", field)
		require.Equalf(t, want, ansi.StringWidthWc(glyph), "%s", field)
	})
}

func TestWithoutColorNoStyleHasOne(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true})
	eachStyle(th, func(name string, style theme.Style) {
		require.NotRegexpf(t, colored, style.Render("word"), "%s", name)
		require.Equalf(t, style, th.Lit(style), "%s in a selected row", name)
	})
}

func TestAStyleIsTheSequenceAroundEachLine(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{})
	require.Equal(t, "\x1b[38;2;126;226;160mx\x1b[m", th.Good.Render("x"))
	require.Equal(t, "\x1b[38;2;126;226;160;1mx\x1b[m", th.Good.Bold().Render("x"))
	require.Equal(t, th.Strong, th.Strong.Bold(), "bold already")
	require.Equal(t, "\x1b[38;2;126;226;160;4mx\x1b[m\n\x1b[38;2;126;226;160;4my\x1b[m",
		th.Good.Underline().Render("x\ny"))
	require.Equal(t, "\x1b[38;2;126;226;160;48;2;43;58;77mx\x1b[m", th.Lit(th.Good).Render("x"))
	require.Empty(t, th.Good.Render(""))
	require.Equal(t, "x", theme.Style{}.Render("x"))
}

func eachStyle(th theme.Theme, check func(name string, style theme.Style)) {
	for _, styles := range []reflect.Value{reflect.ValueOf(th.Styles), reflect.ValueOf(th.States)} {
		for i := range styles.NumField() {
			if style, ok := styles.Field(i).Interface().(theme.Style); ok {
				check(styles.Type().Field(i).Name, style)
			}
		}
	}
}

func eachGlyph(t *testing.T, glyphs theme.Glyphs, check func(field, glyph string)) {
	t.Helper()
	value := reflect.ValueOf(glyphs)
	for i := range value.NumField() {
		field := value.Type().Field(i).Name
		switch v := value.Field(i).Interface().(type) {
		case string:
			require.NotEmptyf(t, v, "%s", field)
			check(field, v)
		case []string:
			for _, glyph := range v {
				check(field, glyph)
			}
		}
	}
}
