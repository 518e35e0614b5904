// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Theme is one set of styles and glyphs. Its zero value draws nothing useful; use New.
type Theme struct {
	Styles
	Tones Tones
	Glyphs
	// ASCII: there is no character beyond ASCII in Glyphs. Plain: there are no colours.
	ASCII, Plain bool
	// ground is how every cell starts; without it cells are as the terminal has them.
	ground string
	// lit is the colour behind a selected row, as parameters of a sequence; empty where it has none.
	lit string
}

// Depth is how many colours a terminal shows.
type Depth int

const (
	// TrueColor is the zero value: any colour.
	TrueColor Depth = iota
	// Colors256 are the 256 of xterm.
	Colors256
	// Colors16 are those that users choose for their terminal.
	Colors16
	// NoColors leaves bold, underline and reverse.
	NoColors
)

// DepthOf returns the depth of a colour profile by its name: the one that Bubble Tea sends for a terminal.
func DepthOf(profile string) Depth {
	switch profile {
	case "TrueColor":
		return TrueColor
	case "ANSI256":
		return Colors256
	case "ANSI":
		return Colors16
	}
	return NoColors
}

// Options choose the set.
type Options struct {
	Choice Choice
	Depth  Depth
	// Light: the terminal has a light background.
	Light bool
	// NoColor leaves bold, underline and reverse only, whatever the depth.
	NoColor bool
	// ASCII uses no character beyond ASCII for frames and icons.
	ASCII bool
	// ReducedMotion has no spinner.
	ReducedMotion bool
	// Big shows the stages or a log alone, for people far away from the screen. The theme is the same.
	Big bool
}

// New returns the set that options describe.
func New(options Options) Theme {
	th := Theme{Glyphs: unicodeGlyphs(), ASCII: options.ASCII}
	if options.ASCII {
		th.Glyphs = asciiGlyphs()
	}
	if options.ReducedMotion {
		th.Spinner = []string{th.Ellipsis}
	}
	colors := options.Choice.palette(options.Light)
	switch {
	case options.NoColor, options.Depth == NoColors:
		th.Styles, th.Plain = plain(), true
		th.Tones = th.tones()
	case options.Depth == Colors16:
		th.Styles, th.Tones = sixteen()
	case options.Depth == Colors256:
		_, indexes, background := colors.reduce()
		of := func(t token) color.Color { return ansi.IndexedColor(indexes[t]) }
		th.paint(of, ansi.IndexedColor(background), colors.painted)
	default:
		of := func(t token) color.Color { return colors.colors[t] }
		th.paint(of, colors.backgrounds[0], colors.painted)
	}
	return th
}

func (th *Theme) paint(of ink, background color.Color, painted bool) {
	th.Styles = colored(of, background)
	th.Tones = th.tones()
	th.lit = pen{bg: of(selection)}.style().parameters()
	if painted {
		th.ground = pen{fg: of(words), bg: background}.style().open
	}
}

// Ground lays the background of the theme under what is drawn, where the theme has one.
func (th Theme) Ground(drawn string) string { return under(th.ground, drawn) }

// Select lays the look of a selected row under what is drawn. Parts keep their own colours, except frames, which are
// not made for its background.
func (th Theme) Select(drawn string, focused bool) string {
	if focused {
		if frame := th.Border.open; frame != "" {
			drawn = strings.ReplaceAll(drawn, frame, th.Dim.open)
		}
		return under(th.Selected.open, drawn)
	}
	return under(th.SelectedDim.open, drawn)
}

// Lit returns a style as it is in a selected row: with the background of the row, where that has one.
func (th Theme) Lit(s Style) Style { return s.with(th.lit) }

// under starts each line with a style and returns to it where another one ends.
func under(opening, drawn string) string {
	if opening == "" {
		return drawn
	}
	drawn = strings.ReplaceAll(drawn, reset, reset+opening)
	return opening + strings.ReplaceAll(drawn, "\n", reset+"\n"+opening) + reset
}

// FromEnvironment reads the options from environment variables, each "NAME=value":
//
//   - NO_COLOR with any value that is not empty: no colours (no-color.org);
//   - PIPEDECK_ASCII=1: ASCII only; also on terminals known to lack the glyphs (dumb, linux, vt100, …);
//   - PIPEDECK_REDUCED_MOTION=1: no spinner;
//   - PIPEDECK_BIG=1: for people far away from the screen;
//   - PIPEDECK_THEME: see Choose, whose errors come back;
//   - COLORFGBG, as some terminals set it: its last part is the number of the background colour.
func FromEnvironment(environ []string) (Options, error) {
	term := value(environ, "TERM")
	choice, err := Choose(value(environ, "PIPEDECK_THEME"))
	return Options{
		Choice:  choice,
		NoColor: value(environ, "NO_COLOR") != "" || term == "dumb",
		ASCII:   on(environ, "PIPEDECK_ASCII") || lacksGlyphs(term),
		Light:   lightByNumber(value(environ, "COLORFGBG")),

		ReducedMotion: on(environ, "PIPEDECK_REDUCED_MOTION"),
		Big:           on(environ, "PIPEDECK_BIG"),
	}, err
}

// on reports whether a variable has a value other than 0.
func on(environ []string, name string) bool {
	v := value(environ, name)
	return v != "" && v != "0"
}

// value returns the last value of a variable, as the operating system does.
func value(environ []string, name string) string {
	found := ""
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			found = v
		}
	}
	return found
}

func lacksGlyphs(term string) bool {
	return term == "dumb" || term == "linux" || term == "ansi" || strings.HasPrefix(term, "vt")
}

// lightByNumber reads COLORFGBG such as "0;15" or "0;default;15". Source: rxvt(1).
func lightByNumber(colorfgbg string) bool {
	switch colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:] {
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return true
	}
	return false
}
