// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Styles are meanings that text can have.
type Styles struct {
	Text, Strong, Dim, Faint Style
	Title, TitleFocused      Style
	Border, BorderFocused    Style
	// Selected is the row that keys act on, below the styles of its parts; SelectedDim the row of a pane without focus.
	Selected, SelectedDim Style
	// Key is the name of a key in the footer, help and dialogs.
	Key Style
	// Match is a hit of a search.
	Match Style
	// Brand is the program's name; Banner a message across the screen that must be seen.
	Brand, Banner Style
	States
}

// States are the meanings that words about a state can have.
type States struct {
	Good, Running, Bad, Warn, Info Style
	// Idle is what has not begun.
	Idle Style
	// Rollback is what undoes.
	Rollback Style
}

// Tones are the meanings that have signs.
type Tones struct{ Good, Running, Bad, Warn, Info, Idle, Rollback, Text, Dim, Faint, Border, Focus Tone }

// tones returns the states with the same style for words and signs.
func (s Styles) tones() Tones {
	same := func(style Style) Tone { return Tone{style, style} }
	return Tones{
		Good: same(s.Good), Running: same(s.Running), Bad: same(s.Bad), Warn: same(s.Warn), Info: same(s.Info),
		Idle: same(s.Idle), Rollback: same(s.Rollback), Focus: same(s.TitleFocused),
		Text: same(s.Text), Dim: same(s.Dim), Faint: same(s.Faint), Border: same(s.Border),
	}
}

// ink turns a token into a colour of the terminal.
type ink func(token) color.Color

// colored returns styles in the colours of a palette.
func colored(of ink, background color.Color) Styles {
	fg := func(t token) Style { return pen{fg: of(t)}.style() }
	bold := func(t token) Style { return pen{fg: of(t), bold: true}.style() }
	badge := func(t token) Style { return pen{fg: background, bg: of(t), bold: true}.style() }
	return Styles{
		Text: fg(words), Strong: bold(words), Dim: fg(dim), Faint: fg(faint),
		Title: bold(words), TitleFocused: bold(focus),
		Border: fg(border), BorderFocused: fg(focus),
		Selected: pen{fg: of(words), bg: of(selection), bold: true}.style(), SelectedDim: pen{bold: true}.style(),
		Key: bold(focus), Match: badge(focus), Brand: badge(focus), Banner: badge(waiting),
		States: States{Good: fg(ok), Running: fg(running), Bad: bold(failed), Warn: bold(waiting),
			Info: fg(info), Idle: fg(dim), Rollback: fg(rollback)},
	}
}

// plain returns styles without colours.
func plain() Styles {
	base, bold, reverse := Style{}, pen{bold: true}.style(), pen{bold: true, reverse: true}.style()
	return Styles{
		Text: base, Strong: bold, Dim: base, Faint: base,
		Title: base, TitleFocused: pen{bold: true, underline: true}.style(),
		Border: base, BorderFocused: bold,
		Selected: bold, SelectedDim: bold,
		Key: bold, Match: reverse, Brand: reverse, Banner: reverse,
		States: States{Good: base, Running: bold, Bad: bold, Warn: bold, Info: base, Idle: base, Rollback: base},
	}
}

// sixteen returns styles for terminals whose colours the user has chosen: plain words, and colours 1 to 6 for signs.
// Colours 7 and 8 are the background of some terminals.
func sixteen() (Styles, Tones) {
	styles := plain()
	tones := styles.tones()
	bold := styles.Strong
	for color, tone := range map[ansi.BasicColor]*Tone{
		ansi.Red: &tones.Bad, ansi.Green: &tones.Good, ansi.Yellow: &tones.Warn, ansi.Blue: &tones.Info,
		ansi.Magenta: &tones.Rollback, ansi.Cyan: &tones.Running,
	} {
		tone.sign = pen{fg: color, bold: tone.sign == bold}.style()
	}
	tones.Focus.sign = pen{fg: ansi.Magenta, bold: true}.style()
	styles.BorderFocused = tones.Focus.sign
	return styles, tones
}
