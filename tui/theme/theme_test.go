// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme_test

import (
	"reflect"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestOptionsComeFromTheEnvironment(t *testing.T) {
	t.Parallel()
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
		"high contrast":                  {[]string{"PIPEDECK_THEME=high-contrast"}, theme.Options{HighContrast: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, theme.FromEnvironment(c.environ))
		})
	}
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
	styles := reflect.ValueOf(theme.New(theme.Options{NoColor: true}).Styles)
	for i := range styles.NumField() {
		style := styles.Field(i).Interface().(lipgloss.Style)
		require.Equalf(t, lipgloss.NoColor{}, style.GetForeground(), "%s", styles.Type().Field(i).Name)
		require.Equalf(t, lipgloss.NoColor{}, style.GetBackground(), "%s", styles.Type().Field(i).Name)
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
