// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width is the number of columns that s takes; style sequences take none.
func Width(s string) int { return ansi.StringWidth(s) }

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
	s = Cut(s, width, tail)
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}

// PadLeft returns s in exactly width columns, cut or filled with spaces at the left.
func PadLeft(s string, width int, tail string) string {
	s = Cut(s, width, tail)
	return strings.Repeat(" ", max(0, width-Width(s))) + s
}

// Wrap breaks s into lines of at most width columns, between words where it can; at least one line.
func Wrap(s string, width int) []string {
	if width < 1 {
		return []string{""}
	}
	return strings.Split(ansi.Wrap(s, width, " "), "\n")
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
