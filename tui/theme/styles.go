// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Styles are meanings that text can have.
type Styles struct {
	Text, Strong, Dim, Faint lipgloss.Style
	Title, TitleFocused      lipgloss.Style
	Border, BorderFocused    lipgloss.Style
	// Selected is the row that keys act on, below the styles of its parts; SelectedDim the row of a pane without focus.
	Selected, SelectedDim lipgloss.Style
	// Key is the name of a key in the footer, help and dialogs.
	Key lipgloss.Style
	// Match is a hit of a search.
	Match lipgloss.Style
	// Brand is the program's name; Banner a message across the screen that must be seen.
	Brand, Banner lipgloss.Style
	States
}

// States are the meanings that words about a state can have.
type States struct {
	Good, Running, Bad, Warn, Info lipgloss.Style
	// Idle is what has not begun.
	Idle lipgloss.Style
	// Rollback is what undoes.
	Rollback lipgloss.Style
}

// Tone is a meaning for words and for the sign next to them. On a terminal of 16 colours, which users choose, words
// have none.
type Tone struct{ word, sign lipgloss.Style }

// Render draws words.
func (t Tone) Render(said ...string) string { return t.word.Render(said...) }

// Sign draws a sign, a bar, a frame or an edge: whatever is not read.
func (t Tone) Sign(sign string) string { return t.sign.Render(sign) }

// SignStyle is the style of Sign.
func (t Tone) SignStyle() lipgloss.Style { return t.sign }

// Tones are the meanings that have signs.
type Tones struct{ Good, Running, Bad, Warn, Info, Idle, Rollback, Text, Dim, Faint, Border, Focus Tone }

// tones returns the states with the same style for words and signs.
func (s Styles) tones() Tones {
	same := func(style lipgloss.Style) Tone { return Tone{style, style} }
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
	base := lipgloss.NewStyle()
	fg := func(t token) lipgloss.Style { return base.Foreground(of(t)) }
	badge := func(t token) lipgloss.Style { return base.Foreground(background).Background(of(t)).Bold(true) }
	return Styles{
		Text: fg(words), Strong: fg(words).Bold(true), Dim: fg(dim), Faint: fg(faint),
		Title: fg(words).Bold(true), TitleFocused: fg(focus).Bold(true),
		Border: fg(border), BorderFocused: fg(focus),
		Selected: fg(words).Background(of(selection)).Bold(true), SelectedDim: base.Bold(true),
		Key: fg(focus).Bold(true), Match: badge(focus), Brand: badge(focus), Banner: badge(waiting),
		States: States{Good: fg(ok), Running: fg(running), Bad: fg(failed).Bold(true), Warn: fg(waiting).Bold(true),
			Info: fg(info), Idle: fg(dim), Rollback: fg(rollback)},
	}
}

// plain returns styles without colours.
func plain() Styles {
	base := lipgloss.NewStyle()
	bold, reverse := base.Bold(true), base.Reverse(true).Bold(true)
	return Styles{
		Text: base, Strong: bold, Dim: base, Faint: base,
		Title: base, TitleFocused: bold.Underline(true),
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
	for color, tone := range map[ansi.BasicColor]*Tone{
		ansi.Red: &tones.Bad, ansi.Green: &tones.Good, ansi.Yellow: &tones.Warn, ansi.Blue: &tones.Info,
		ansi.Magenta: &tones.Rollback, ansi.Cyan: &tones.Running,
	} {
		tone.sign = tone.sign.Foreground(color)
	}
	tones.Focus.sign = lipgloss.NewStyle().Bold(true).Foreground(ansi.Magenta)
	styles.BorderFocused = tones.Focus.sign
	return styles, tones
}
