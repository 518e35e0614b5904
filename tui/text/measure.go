// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of columns that s takes; style sequences take none.
func Width(s string) int { return WidthBy(ansi.GraphemeWidth, s) }

// WidthBy is the width on a terminal that counts columns by method. Every line of every screen is measured, so the
// characters that nearly all of a screen is made of are counted here; anything else is left to package ansi, which
// returns the same.
func WidthBy(method ansi.Method, s string) int {
	columns := 0
	for at := 0; at < len(s); {
		size, width := single(s[at:])
		if size == 0 {
			size = styleLength(s[at:])
		}
		if size == 0 {
			// Neither a control nor broken: those are left to the package.
			r, _ := utf8.DecodeRuneInString(s[at:])
			if r < 0x20 || r >= 0x7f && r <= 0x9f || !utf8.ValidString(s[at:]) {
				return method.StringWidth(s)
			}
			size, width = character(s[at:], method)
		}
		at, columns = at+size, columns+width
	}
	return columns
}

// single is the length and width of the character at the start of s where it takes one column for certain: ASCII, the
// lines, blocks and shapes of frames, and frequent signs, unless a mark may follow. The length is 0 for any other
// character.
func single(s string) (size, width int) {
	if s[0] >= 0x20 && s[0] < 0x7f {
		size = 1
	} else if size = frameLength(s); size == 0 {
		return 0, 0
	}
	if rest := s[size:]; rest == "" || rest[0] < 0x80 || frameLength(rest) > 0 {
		return size, 1
	}
	return 0, 0
}

// frameLength is the length of the shape or sign at the start of s, 0 without one.
func frameLength(s string) int {
	switch {
	case len(s) < 2 || shapeWidth != 1:
		return 0
	case s[0] == 0xc2 && (s[1] == 0xb7 || s[1] == 0xbb): // · »
		return 2
	case isShape(s) || isSign(s):
		return 3
	}
	return 0
}

// isSign reports whether s starts with … ← ↑ → ↓ ✓ or ✗, which stand on most lines of a screen.
func isSign(s string) bool {
	return len(s) >= 3 && s[0] == 0xe2 && (s[1] == 0x80 && s[2] == 0xa6 ||
		s[1] == 0x86 && s[2] >= 0x90 && s[2] <= 0x93 || s[1] == 0x9c && (s[2] == 0x93 || s[2] == 0x97))
}

// isShape reports whether s starts with a character from U+2500 to U+25FC where those take one column. An environment
// variable of package ansi makes some of them wide.
func isShape(s string) bool {
	return len(s) >= 3 && s[0] == 0xe2 && s[2] >= 0x80 && s[2] <= 0xbf &&
		(s[1] >= 0x94 && s[1] <= 0x96 || s[1] == 0x97 && s[2] <= 0xbc) && shapeWidth == 1
}

var shapeWidth = ansi.StringWidth("─")

// styleLength is the length of the style sequence at the start of s, 0 without one.
func styleLength(s string) int {
	if len(s) < 3 || s[0] != escape || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}

// Cut returns s in at most width columns; tail ("…") marks that something is missing.
func Cut(s string, width int, tail string) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	if Width(tail) > width {
		tail = ""
	}
	return ansi.Truncate(s, width, tail)
}

// CutLeft returns the end of s in at most width columns; head marks that something is missing. For
// paths, whose end says more than their start.
func CutLeft(s string, width int, head string) string {
	w := Width(s)
	if w <= width {
		return s
	}
	if width <= Width(head) {
		return Cut(s, width, "")
	}
	return ansi.TruncateLeft(s, w-width+Width(head), head)
}

// Pad returns s in exactly width columns, cut or filled with spaces at the right.
func Pad(s string, width int, tail string) string {
	columns := Width(s)
	if columns > width {
		s = Cut(s, width, tail)
		columns = Width(s)
	}
	return s + strings.Repeat(" ", max(0, width-columns))
}

// PadLeft returns s in exactly width columns, cut or filled with spaces at the left.
func PadLeft(s string, width int, tail string) string {
	columns := Width(s)
	if columns > width {
		s = Cut(s, width, tail)
		columns = Width(s)
	}
	return strings.Repeat(" ", max(0, width-columns)) + s
}

// unbroken stands for a hyphen while a text is wrapped: a character for private use, one column wide.
const unbroken = "\uE02D"

// Wrap breaks s into lines of at most width columns, between words where it can, and not at hyphens; at least one line.
func Wrap(s string, width int) []string {
	if width < 1 {
		return []string{""}
	}
	// ansi.Wrap always breaks after a hyphen, which cuts names of objects that would fit into the next line.
	s = strings.ReplaceAll(s, "-", unbroken)
	lines := strings.Split(ansi.Wrap(s, width, " "), "\n")
	for i, line := range lines {
		line = strings.ReplaceAll(line, unbroken, "-")
		lines[i] = strings.TrimRight(line, " ") // the blank at a break may stand beyond the width
	}
	return lines
}

// Chop breaks s into lines of at most width columns at any character and keeps every space; at least one line.
func Chop(s string, width int) []string {
	if width < 1 {
		return []string{""}
	}
	if Width(s) <= width {
		return []string{s}
	}
	return strings.Split(ansi.Hardwrap(s, width, true), "\n")
}
