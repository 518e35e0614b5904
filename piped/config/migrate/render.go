// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import "strings"

// renderer writes mappings and sequences as lines again.
type renderer struct{ lines []string }

func (r *renderer) mapping(m *mapping, indent int) {
	for _, e := range m.entries {
		r.entry(e, indent, spaces(indent))
	}
}

// entry writes the key at the column; prefix is what stands before it on its line.
func (r *renderer) entry(e *entry, indent int, prefix string) {
	by := indent - e.indent
	r.shift(e.lead, by)
	head := e.head
	if e.mapping != nil && len(e.mapping.entries) == 0 {
		head = strings.Replace(head, ":", ": {}", 1)
	}
	r.lines = append(r.lines, prefix+head)
	switch {
	case e.mapping != nil:
		r.mapping(e.mapping, indent+e.offset)
	case e.sequence != nil:
		r.sequence(e.sequence, indent+e.offset)
	default:
		r.shift(e.rest, by)
	}
	r.shift(e.tail, by)
}

func (r *renderer) sequence(s *sequence, indent int) {
	for _, it := range s.items {
		by := indent - it.indent
		r.shift(it.lead, by)
		if it.mapping == nil || len(it.mapping.entries) == 0 {
			r.shift(it.rest, by)
		} else {
			column := indent + len(it.dash)
			for i, e := range it.mapping.entries {
				prefix := spaces(column)
				if i == 0 {
					prefix = spaces(indent) + it.dash
				}
				r.entry(e, column, prefix)
			}
		}
		r.shift(it.tail, by)
	}
}

func (r *renderer) shift(lines []string, by int) {
	for _, line := range lines {
		switch {
		case blank(line):
		case by > 0:
			line = spaces(by) + line
		case by < 0:
			line = line[min(-by, indentOf(line)):]
		}
		r.lines = append(r.lines, line)
	}
}

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
