// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Span is a part of a string, in bytes.
type Span struct{ From, To int }

// Rows breaks clean text into rows of at most width columns, between words where it can; at least one. The spaces at a
// break belong to no row. No character is divided; one wider than width stands alone. method says how the terminal
// counts columns.
func Rows(s string, width int, method ansi.Method) []Span {
	width = max(1, width)
	if len(s) <= width {
		return []Span{{0, len(s)}} // a character takes at least as many bytes as columns
	}
	var rows []Span
	for from := 0; from < len(s) || from == 0; {
		to, next := row(s, from, width, method)
		rows = append(rows, Span{from, to})
		from = next
		if next >= len(s) {
			break
		}
	}
	return rows
}

// row is the end of the row that begins at from, and the start of the next.
func row(s string, from, width int, method ansi.Method) (to, next int) {
	columns, word := 0, 0
	at := from
	for at < len(s) {
		size, w := character(s[at:], method)
		if columns+w > width && at > from {
			break
		}
		columns += w
		at += size
		if s[at-1] == ' ' {
			word = at
		}
	}
	switch {
	case at == len(s):
		return at, at
	case s[at] == ' ': // the row ends with a word
		word = at
	case word <= from:
		return at, at // a word longer than the row
	}
	to, next = word, word
	for to > from && s[to-1] == ' ' {
		to--
	}
	for next < len(s) && s[next] == ' ' {
		next++
	}
	if to == from { // nothing but spaces
		to = word
	}
	return to, next
}

// character is the first character of s: how many bytes and columns it takes.
func character(s string, method ansi.Method) (size, width int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	cluster, width := ansi.FirstGraphemeCluster(s, method)
	if cluster == "" {
		_, size := utf8.DecodeRuneInString(s)
		return size, 0
	}
	return len(cluster), width
}

// Columns is how many columns clean text takes.
func Columns(s string, method ansi.Method) int {
	columns := 0
	for at := 0; at < len(s); {
		size, w := character(s[at:], method)
		at += size
		columns += w
	}
	return columns
}

// Window is the part of clean text that stands in the columns from left on, at most width of them. skipped is how many
// columns of it are left empty, because a wide character is cut at the left edge.
func Window(s string, left, width int, method ansi.Method) (part Span, skipped int) {
	column, at := 0, 0
	for at < len(s) && column < left {
		size, w := character(s[at:], method)
		at += size
		column += w
	}
	part.From, skipped = at, max(0, column-left)
	column = skipped
	for at < len(s) {
		size, w := character(s[at:], method)
		if column+w > width {
			break
		}
		at += size
		column += w
	}
	part.To = at
	return part, skipped
}
