// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Theme is one set of styles and glyphs. Its zero value draws nothing useful; use New or FromEnvironment.
type Theme struct {
	Styles
	Glyphs
	// ASCII: there is no character beyond ASCII in Glyphs. Plain: there are no colours.
	ASCII, Plain bool
}

// Options choose the set.
type Options struct {
	// NoColor leaves bold, underline and reverse only.
	NoColor bool
	// ASCII uses no character beyond ASCII for frames and icons.
	ASCII bool
	// HighContrast uses bright colours and no dimmed text.
	HighContrast bool
}

// New returns the set that options describe.
func New(options Options) Theme {
	styles := colored()
	switch {
	case options.NoColor:
		styles = monochrome()
	case options.HighContrast:
		styles = highContrast()
	}
	glyphs := unicodeGlyphs()
	if options.ASCII {
		glyphs = asciiGlyphs()
	}
	return Theme{Styles: styles, Glyphs: glyphs, ASCII: options.ASCII, Plain: options.NoColor}
}

// FromEnvironment reads the options from environment variables, each "NAME=value":
//
//   - NO_COLOR with any value that is not empty: no colours (no-color.org);
//   - PIPEDECK_ASCII=1: ASCII only; also on terminals known to lack the glyphs (dumb, linux, vt100, …);
//   - PIPEDECK_THEME=high-contrast: bright colours, nothing dimmed.
func FromEnvironment(environ []string) Options {
	value := func(name string) string {
		found := ""
		for _, entry := range environ {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				found = v // as in the operating system, the last one counts
			}
		}
		return found
	}
	term := value("TERM")
	ascii := value("PIPEDECK_ASCII")
	return Options{
		NoColor:      value("NO_COLOR") != "" || term == "dumb",
		ASCII:        (ascii != "" && ascii != "0") || lacksGlyphs(term),
		HighContrast: value("PIPEDECK_THEME") == "high-contrast",
	}
}

func lacksGlyphs(term string) bool {
	return term == "dumb" || term == "linux" || term == "ansi" || strings.HasPrefix(term, "vt")
}

// Styles are meanings that text can have.
type Styles struct {
	Text, Strong, Dim              lipgloss.Style
	Title, TitleFocused            lipgloss.Style
	Border, BorderFocused          lipgloss.Style
	Good, Running, Bad, Warn, Info lipgloss.Style
	// Idle is what has not begun.
	Idle lipgloss.Style
	// Rollback is what undoes.
	Rollback lipgloss.Style
	// Selected is the row that keys act on; SelectedDim the row of a pane without focus.
	Selected, SelectedDim lipgloss.Style
	// Key is the name of a key in the footer, help and dialogs.
	Key lipgloss.Style
	// Match is a hit of a search.
	Match lipgloss.Style
	// Brand is the program's name; Banner a message across the screen that must be seen.
	Brand, Banner lipgloss.Style
}

func colored() Styles {
	base := lipgloss.NewStyle()
	fg := func(c string) lipgloss.Style { return base.Foreground(lipgloss.Color(c)) }
	return Styles{
		Text: base, Strong: base.Bold(true), Dim: fg("8"),
		Title: base.Bold(true), TitleFocused: fg("6").Bold(true),
		Border: fg("8"), BorderFocused: fg("6"),
		Good: fg("2"), Running: fg("3"), Bad: fg("1").Bold(true), Warn: fg("3").Bold(true), Info: fg("4"),
		Idle: fg("8"), Rollback: fg("5"),
		Selected: base.Reverse(true).Bold(true), SelectedDim: base.Bold(true),
		Key: fg("6").Bold(true), Match: base.Background(lipgloss.Color("3")).Foreground(lipgloss.Color("0")),
		Brand:  base.Background(lipgloss.Color("6")).Foreground(lipgloss.Color("0")).Bold(true),
		Banner: base.Background(lipgloss.Color("3")).Foreground(lipgloss.Color("0")).Bold(true),
	}
}

func highContrast() Styles {
	base := lipgloss.NewStyle()
	fg := func(c string) lipgloss.Style { return base.Foreground(lipgloss.Color(c)).Bold(true) }
	return Styles{
		Text: base, Strong: base.Bold(true), Dim: base,
		Title: base.Bold(true), TitleFocused: fg("14").Underline(true),
		Border: base, BorderFocused: fg("14"),
		Good: fg("10"), Running: fg("11"), Bad: fg("9").Underline(true), Warn: fg("11").Underline(true), Info: fg("14"),
		Idle: base, Rollback: fg("13"),
		Selected: base.Reverse(true).Bold(true), SelectedDim: base.Bold(true).Underline(true),
		Key: fg("14"), Match: base.Reverse(true).Bold(true),
		Brand: base.Reverse(true).Bold(true), Banner: base.Reverse(true).Bold(true),
	}
}

func monochrome() Styles {
	base := lipgloss.NewStyle()
	bold, reverse := base.Bold(true), base.Reverse(true).Bold(true)
	return Styles{
		Text: base, Strong: bold, Dim: base,
		Title: base, TitleFocused: bold.Underline(true),
		Border: base, BorderFocused: bold,
		Good: base, Running: bold, Bad: bold, Warn: bold, Info: base,
		Idle: base, Rollback: base,
		Selected: reverse, SelectedDim: bold,
		Key: bold, Match: reverse, Brand: reverse, Banner: reverse,
	}
}
