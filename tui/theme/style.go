// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package theme

import (
	"image/color"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Style is how a text looks: the sequence that starts it, which is made once. A screen has thousands of pieces, and a
// style is copied with the theme wherever one is drawn, so it is small. The zero value is the terminal's own look.
type Style struct{ open string }

// reset ends every style.
const reset = ansi.ResetStyle

// Render draws a text. Each line of it has the style by itself.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	if strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\n", reset+"\n"+s.open)
	}
	return s.open + text + reset
}

// Bold and Underline return the style with another attribute.
func (s Style) Bold() Style      { return s.with("1") }
func (s Style) Underline() Style { return s.with("4") }

// parameters are those of the sequence that starts the style.
func (s Style) parameters() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.open, "\x1b["), "m")
}

// with returns the style with more parameters.
func (s Style) with(more string) Style {
	switch {
	case more == "" || strings.HasPrefix(s.parameters()+";", more+";"): // an attribute stands before colours
		return s
	case s.open == "":
		return Style{"\x1b[" + more + "m"}
	}
	return Style{"\x1b[" + s.parameters() + ";" + more + "m"}
}

// pen describes a style. A colour that is nil is the terminal's own.
type pen struct {
	fg, bg                   color.Color
	bold, underline, reverse bool
}

func (p pen) style() Style {
	var s ansi.Style
	if p.bold {
		s = s.Bold()
	}
	if p.underline {
		s = s.Underline(true)
	}
	if p.reverse {
		s = s.Reverse(true)
	}
	if p.fg != nil {
		s = s.ForegroundColor(p.fg)
	}
	if p.bg != nil {
		s = s.BackgroundColor(p.bg)
	}
	if len(s) == 0 {
		return Style{}
	}
	return Style{s.String()}
}

// Tone is a meaning for words and for the sign next to them. On a terminal of 16 colours, which users choose, words
// have none.
type Tone struct{ word, sign Style }

// Render draws words.
func (t Tone) Render(said string) string { return t.word.Render(said) }

// Sign draws a sign, a bar, a frame or an edge: whatever is not read.
func (t Tone) Sign(sign string) string { return t.sign.Render(sign) }

// SignStyle is the style of Sign.
func (t Tone) SignStyle() Style { return t.sign }
