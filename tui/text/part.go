// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Part returns what stands in the columns [from, to) of a drawn line, in exactly to - from columns: spaces stand where
// the line is too short, and for the half of a wide character that is cut. It has the styles of those columns and ends
// them. The line holds no other sequences.
func Part(line string, from, to int) string {
	if to <= from {
		return ""
	}
	c := cutter{line: line}
	before := c.skip(from)
	begin := c.at
	after := c.skip(to)
	end := c.at
	if after > 0 { // the last character reaches beyond the end
		end = c.last
	}
	if begin > end { // and it is the one that reaches beyond the start
		begin, before = end, 0
	}
	lead := strings.Repeat(" ", before)
	part := c.opened(begin) + lead + line[begin:end]
	columns := before + Width(line[begin:end])
	if c.opened(end) != "" {
		part += ansi.ResetStyle
	}
	return part + strings.Repeat(" ", max(0, to-from-columns))
}

// cutter goes through a drawn line.
type cutter struct {
	line string
	// at is the next byte, in the column column; last is where the last character begins.
	at, column, last int
	// styles are the sequences so far.
	styles []Span
}

// skip goes to the first character of a column, or to the end of the line. beyond is how many columns of the character
// before reach into it.
func (c *cutter) skip(column int) (beyond int) {
	for c.at < len(c.line) && c.column < column {
		if size := styleLength(c.line[c.at:]); size > 0 {
			c.styles = append(c.styles, Span{c.at, c.at + size})
			c.at += size
			continue
		}
		size, width := single(c.line[c.at:])
		if size == 0 {
			size, width = character(c.line[c.at:], ansi.GraphemeWidth)
		}
		c.last, c.at, c.column = c.at, c.at+size, c.column+width
	}
	return max(0, c.column-column)
}

// opened are the style sequences that hold at a byte.
func (c *cutter) opened(at int) string {
	var open []string
	for _, style := range c.styles {
		if style.From >= at {
			break
		}
		sequence := c.line[style.From:style.To]
		if sequence == ansi.ResetStyle || sequence == "\x1b[0m" {
			open = open[:0]
			continue
		}
		open = append(open, sequence)
	}
	return strings.Join(open, "")
}
