// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"image/color"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/theme"
)

// cell is one character of a screen with its colours; nil is that of the terminal.
type cell struct {
	char           rune
	fg, bg         color.Color
	fgCode, bgCode string
}

// cells reads the characters of a screen and their colours.
func cells(t *testing.T, screen string) []cell {
	t.Helper()
	var out []cell
	var now cell
	for screen != "" {
		if rest, sequence := strings.CutPrefix(screen, "\x1b["); sequence {
			parameters, after, found := strings.Cut(rest, "m")
			require.True(t, found)
			now.take(t, strings.Split(parameters, ";"))
			screen = after
			continue
		}
		char, size := utf8.DecodeRuneInString(screen)
		screen = screen[size:]
		if char != '\n' {
			now.char = char
			out = append(out, now)
		}
	}
	return out
}

// take applies the parameters of one sequence.
func (c *cell) take(t *testing.T, parameters []string) {
	t.Helper()
	for i := 0; i < len(parameters); i++ {
		switch p := parameters[i]; {
		case p == "" || p == "0":
			*c = cell{}
		case p == "39":
			c.fg, c.fgCode = nil, ""
		case p == "49":
			c.bg, c.bgCode = nil, ""
		case p == "38" || p == "48":
			used := 3
			if parameters[i+1] == "2" {
				used = 5
			}
			code := strings.Join(parameters[i:i+used], ";")
			if p == "38" {
				c.fg, c.fgCode = extended(t, parameters[i+1:i+used]), code
			} else {
				c.bg, c.bgCode = extended(t, parameters[i+1:i+used]), code
			}
			i += used - 1
		case len(p) == 2 && p[0] == '3':
			c.fg, c.fgCode = ansi.BasicColor(p[1]-'0'), p
		case len(p) == 2 && (p[0] == '4' || p[0] == '9') || len(p) == 3:
			c.bg, c.bgCode = color.Black, p
		}
	}
}

func extended(t *testing.T, parameters []string) color.Color {
	t.Helper()
	numbers := make([]uint8, len(parameters))
	for i, p := range parameters {
		n, err := strconv.ParseUint(p, 10, 8)
		require.NoError(t, err)
		numbers[i] = uint8(n)
	}
	if numbers[0] == 5 {
		return ansi.IndexedColor(numbers[1])
	}
	return theme.Color{R: numbers[1], G: numbers[2], B: numbers[3]}
}

func rgb(c color.Color) theme.Color {
	r, g, b, _ := c.RGBA()
	return theme.Color{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8)}
}

// isWord reports whether a character is read; frames, lines and blocks are not.
func isWord(r rune) bool { return !(r >= 0x2500 && r < 0x25a0) }

// inTheme draws a fixed state in a theme.
func inTheme(t *testing.T, m *model, name string, depth theme.Depth) []cell {
	t.Helper()
	choice, err := theme.Choose(name)
	require.NoError(t, err)
	m.host.look = theme.Options{Choice: choice, Depth: depth}
	m.restyle()
	return cells(t, m.View().Content)
}

func TestEveryScreenIsReadableInEveryTheme(t *testing.T) {
	t.Parallel()
	parse := func(hex ...string) (colors []theme.Color) {
		for _, s := range hex {
			c, err := theme.ParseColor(s)
			require.NoError(t, err)
			colors = append(colors, c)
		}
		return colors
	}
	dark, light := parse("#1e1e1e", "#002b36"), parse("#ffffff", "#fdf6e3")
	for name, backgrounds := range map[string][]theme.Color{"dark": dark, "light": light, "colour-blind-dark": dark,
		"colour-blind-light": light, "high-contrast": nil} {
		for title, draw := range screens() {
			t.Run(name+" "+title, func(t *testing.T) {
				t.Parallel()
				m := draw(t)
				for _, depth := range []theme.Depth{theme.TrueColor, theme.Colors256} {
					for _, c := range inTheme(t, m, name, depth) {
						if backgrounds == nil && (c.fg == nil || c.bg == nil) {
							t.Fatalf("%q has a colour of the terminal", c.char)
						}
						if c.char == ' ' || c.fg == nil && c.bg == nil {
							continue // as the user has chosen for the terminal
						}
						if c.fg == nil {
							t.Fatalf("%c stands on a background of ours in the colour of the terminal", c.char)
						}
						behind, least := backgrounds, 4.5
						if c.bg != nil {
							behind = []theme.Color{rgb(c.bg)}
						}
						if !isWord(c.char) {
							least = 3
						}
						for _, b := range behind {
							if ratio := rgb(c.fg).Contrast(b); ratio < least {
								t.Fatalf("%c has a contrast of %.2f, %s on %s", c.char, ratio, rgb(c.fg), b)
							}
						}
					}
				}
			})
		}
	}
}

func TestWithSixteenColoursOnlySignsHaveOne(t *testing.T) {
	t.Parallel()
	colored := 0
	for title, draw := range screens() {
		for _, c := range inTheme(t, draw(t), "auto", theme.Colors16) {
			require.Emptyf(t, c.bgCode, "%s: %c has a background", title, c.char)
			if c.fgCode == "" {
				continue
			}
			colored++
			require.Containsf(t, []string{"31", "32", "33", "34", "35", "36"}, c.fgCode, "%s: %c", title, c.char)
			require.Falsef(t, unicode.IsLetter(c.char) || unicode.IsDigit(c.char), "%s: %c has a colour", title, c.char)
		}
	}
	require.NotZero(t, colored)
}

func TestASelectedRowKeepsItsColours(t *testing.T) {
	t.Parallel()
	m := failed(t, 80, 24)
	before := m.host.theme.Tones.Bad.Sign("✗")
	require.Contains(t, m.View().Content, before)
	m.key("d") // the history has the failed deployment selected
	for _, c := range cells(t, m.View().Content) {
		if c.char == '▌' || c.char == '✗' {
			require.Equal(t, "38;2;255;143;138", c.fgCode, "%c", c.char)
		}
	}
}
