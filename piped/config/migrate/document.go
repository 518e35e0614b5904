// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// mapping is a block mapping of the source: keys and values on separate lines.
type mapping struct {
	entries []*entry
	// indent is the column of the keys in the source, from 0.
	indent int
}

// entry is one key of a mapping with its value and the comments that belong to it.
type entry struct {
	key string
	// at is the place in the source, from 1; line 0 for what was added.
	line, column int
	// lead holds the comments and blank lines above the key, as they are in the source.
	lead []string
	// head is the line of the key, from the key on.
	head string
	// Of mapping, sequence and rest at most one is set. rest holds the lines of any other value.
	mapping  *mapping
	sequence *sequence
	rest     []string
	// tail holds the comments behind a mapping or sequence that are indented like what is in it.
	tail []string
	// indent is the column of the key in the source; offset is how much deeper the value is.
	indent, offset int
	// node is the value as parsed. It is nil for what was added; value is that of an added scalar.
	node  *yaml.Node
	value string
	// path leads to the value in the source.
	path []any
}

// sequence is a block sequence of the source.
type sequence struct {
	items []*item
	// indent is the column of the dashes in the source.
	indent int
}

// item is one entry of a sequence.
type item struct {
	line int
	lead []string
	// dash is the dash with the blanks behind it when the first key of mapping follows on its line.
	dash    string
	mapping *mapping
	// rest holds the lines of an item that is no block mapping, the dash included.
	rest []string
	tail []string
	// indent is the column of the dash in the source.
	indent int
	node   *yaml.Node
	path   []any
}

// parser cuts the lines of a file into mappings and sequences. Line numbers are those of yaml.Node.
type parser struct {
	lines []string
	// stop is the first place of a form that cannot be cut, nil when there is none.
	stop *yaml.Node
}

// mapping cuts the lines [from, to) that hold the block mapping n and the comments around it.
func (p *parser) mapping(n *yaml.Node, from, to int, path []any) *mapping {
	m := &mapping{indent: n.Content[0].Column - 1}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		end := to
		if i+2 < len(n.Content) {
			end = p.leadOf(n.Content[i+2].Line-1, key.Line, m.indent)
		}
		at := key.Line - 1
		if before := p.lines[at][:min(m.indent, len(p.lines[at]))]; p.stop == nil &&
			(key.Column-1 != m.indent || (i > 0 && !blank(before+" "))) {
			p.stop = key // An explicit key ("? key") or one behind a tab.
		}
		e := &entry{
			key: key.Value, line: key.Line, column: key.Column, indent: m.indent, node: value,
			lead: p.lines[from:at], head: fromColumn(p.lines[at], m.indent), path: join(path, key.Value),
		}
		p.value(e, at+1, end)
		m.entries = append(m.entries, e)
		from = end
	}
	return m
}

// value cuts the lines [from, to) below the line of the key.
func (p *parser) value(e *entry, from, to int) {
	block := e.node.Style&yaml.FlowStyle == 0 && len(e.node.Content) > 0 && e.node.Content[0].Line > e.line
	switch {
	case block && e.node.Kind == yaml.MappingNode:
		end := p.tailOf(from, to, e.node.Content[0].Column-1)
		e.mapping = p.mapping(e.node, from, end, e.path)
		e.offset, e.tail = e.mapping.indent-e.indent, p.lines[end:to]
	case block && e.node.Kind == yaml.SequenceNode:
		indent := p.dashColumn(e.node.Content[0].Line-1, from)
		if indent < 0 {
			e.rest = p.lines[from:to]
			return
		}
		end := p.tailOf(from, to, indent)
		e.sequence = p.sequence(e.node, indent, from, end, e.path)
		e.offset, e.tail = indent-e.indent, p.lines[end:to]
	default:
		e.rest = p.lines[from:to]
	}
}

func (p *parser) sequence(n *yaml.Node, indent, from, to int, path []any) *sequence {
	s := &sequence{indent: indent}
	for i, value := range n.Content {
		at := p.dashLine(value.Line-1, from, indent)
		end := to
		if i+1 < len(n.Content) {
			if next := p.dashLine(n.Content[i+1].Line-1, at+1, indent); next >= 0 {
				end = p.leadOf(next, at+1, indent)
			}
		}
		if at < 0 || at < from || end <= at { // Dashes that cannot be distinguished: keep the lines as they are.
			return &sequence{indent: indent, items: []*item{{lead: nil, rest: p.lines[from:to], indent: indent, node: n,
				path: path}}}
		}
		it := &item{line: at + 1, lead: p.lines[from:at], indent: indent, node: value, path: join(path, i)}
		p.itemValue(it, at, end)
		s.items = append(s.items, it)
		from = end
	}
	return s
}

func (p *parser) itemValue(it *item, at, end int) {
	n := it.node
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 && n.Content[0].Line == at+1 {
		column := n.Content[0].Column - 1
		dash := p.lines[at][it.indent:min(column, len(p.lines[at]))]
		if strings.Trim(dash[1:], " ") == "" {
			it.dash = dash
			tail := p.tailOf(at+1, end, column)
			it.mapping = p.mapping(n, at, tail, it.path)
			it.mapping.entries[0].lead = nil
			it.tail = p.lines[tail:end]
			return
		}
	}
	it.rest = p.lines[at:end]
}

// leadOf returns where the comments and blank lines above the line begin that belong to it: those that
// are not deeper than its indentation.
func (p *parser) leadOf(line, from, indent int) int {
	for line > from && (blank(p.lines[line-1]) || (comment(p.lines[line-1]) && indentOf(p.lines[line-1]) <= indent)) {
		line--
	}
	return line
}

// tailOf returns where the comments at the end of [from, to) begin that are less deep than what is in
// it: they belong to the key around it.
func (p *parser) tailOf(from, to, indent int) int {
	end := to
	for end > from && (blank(p.lines[end-1]) || comment(p.lines[end-1])) {
		end--
	}
	for end < to && (blank(p.lines[end]) || indentOf(p.lines[end]) >= indent) {
		end++
	}
	return end
}

// dashColumn finds the column of the first dash of a sequence whose first item is at the line.
func (p *parser) dashColumn(line, from int) int {
	for at := from; at <= line; at++ {
		if text := strings.TrimLeft(p.lines[at], " "); text == "-" || strings.HasPrefix(text, "- ") {
			return indentOf(p.lines[at])
		}
	}
	return -1
}

// dashLine finds the line, not above from, whose dash at the column begins the item whose content is at
// the line; -1 when there is none.
func (p *parser) dashLine(line, from, column int) int {
	for ; line >= from && line >= 0; line-- {
		text := fromColumn(p.lines[line], column)
		if indentOf(p.lines[line]) == column && (text == "-" || strings.HasPrefix(text, "- ")) {
			return line
		}
	}
	return -1
}

func blank(line string) bool   { return strings.TrimSpace(line) == "" }
func comment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func fromColumn(line string, column int) string { return line[min(column, len(line)):] }

func join(path []any, last any) []any { return append(path[:len(path):len(path)], last) }
