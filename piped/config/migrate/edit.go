// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// find returns the entry of the key, nil when there is none. m may be nil.
func (m *mapping) find(key string) *entry {
	if m == nil {
		return nil
	}
	for _, e := range m.entries {
		if e.key == key {
			return e
		}
	}
	return nil
}

// cut takes the entry out; its comments go with it.
func (m *mapping) cut(e *entry) {
	m.entries = slices.DeleteFunc(m.entries, func(other *entry) bool { return other == e })
}

// drop takes the entry out and leaves its comments to what follows it, or to what was before it when
// it was the last.
func (m *mapping) drop(e *entry) {
	i := slices.Index(m.entries, e)
	comments := align(e.comments(), m.indent)
	m.cut(e)
	switch {
	case len(comments) == 0:
	case i < len(m.entries):
		m.entries[i].lead = append(comments, m.entries[i].lead...)
	case i > 0:
		m.entries[i-1].tail = append(m.entries[i-1].tail, comments...)
	}
}

// comments are those above the key and behind its value, without blank lines.
func (e *entry) comments() []string {
	var list []string
	for _, line := range e.lead {
		if comment(line) {
			list = append(list, line)
		}
	}
	if c := e.headComment(); c != "" {
		list = append(list, c)
	}
	return list
}

// headComment is the comment on the line of the key.
func (e *entry) headComment() string {
	if e.mapping != nil || e.sequence != nil || (e.node != nil && e.node.Tag == "!!null") {
		_, text, ok := strings.Cut(e.head, " #")
		if !ok {
			return ""
		}
		return "#" + text
	}
	if e.node == nil || e.node.Line != e.line {
		return ""
	}
	return e.node.LineComment
}

// takeBlanks takes the blank lines away that are above everything else of the entry.
func (e *entry) takeBlanks() []string {
	n := 0
	for n < len(e.lead) && blank(e.lead[n]) {
		n++
	}
	blanks := e.lead[:n]
	e.lead = e.lead[n:]
	return blanks
}

func align(comments []string, indent int) []string {
	aligned := make([]string, len(comments))
	for i, line := range comments {
		aligned[i] = spaces(indent) + strings.TrimSpace(line)
	}
	return aligned
}

// insert puts the entry at the index and gives it the indentation of the mapping.
func (m *mapping) insert(i int, e *entry) {
	m.entries = slices.Insert(m.entries, min(max(i, 0), len(m.entries)), e)
}

func (m *mapping) add(e *entry) { m.insert(len(m.entries), e) }

// newMapping is an entry that was not in the source, with a mapping to fill.
func newMapping(key string) *entry {
	return &entry{key: key, head: key + ":", mapping: &mapping{}, offset: 2}
}

func newSequence(key string) *entry {
	return &entry{key: key, head: key + ":", sequence: &sequence{}, offset: 2}
}

// newScalar is an entry that was not in the source; value is as it is to be written.
func newScalar(key, value string) *entry {
	return &entry{key: key, head: key + ": " + value, value: value}
}

// newItem is a sequence item that was not in the source.
func newItem(entries ...*entry) *item {
	return &item{dash: "- ", mapping: &mapping{entries: entries}}
}

// rename changes the key and nothing else of the line.
func (e *entry) rename(key string) {
	e.head = key + strings.TrimPrefix(strings.TrimLeft(e.head, `"'`)[len(e.key):], quoteOf(e.head))
	e.key = key
}

func quoteOf(head string) string {
	if strings.HasPrefix(head, `"`) || strings.HasPrefix(head, `'`) {
		return head[:1]
	}
	return ""
}

// setScalar changes the value on the line of the key; its comment stays.
func (e *entry) setScalar(value string) {
	name, old, _ := strings.Cut(e.head, ":")
	if plain := e.node.Value; e.node.Style == 0 && plain != "" && strings.HasPrefix(strings.TrimLeft(old, " "), plain) {
		e.head = name + ":" + strings.Replace(old, plain, value, 1)
		return
	}
	e.head = strings.TrimRight(name+": "+value+" "+e.headComment(), " ")
	e.rest = nil
}

// substitute changes the lines of the value.
func (e *entry) substitute(change func(string) string) {
	each := func(lines []string) []string {
		changed := make([]string, len(lines))
		for i, line := range lines {
			changed[i] = change(line)
		}
		return changed
	}
	e.head, e.rest = change(e.head), each(e.rest)
	if e.mapping != nil {
		for _, inner := range e.mapping.entries {
			inner.substitute(change)
		}
	}
	if e.sequence != nil {
		for _, it := range e.sequence.items {
			it.rest = each(it.rest)
			if it.mapping != nil {
				for _, inner := range it.mapping.entries {
					inner.substitute(change)
				}
			}
		}
	}
}

// at looks a value of the source up without changing anything; key is nil when it is not there.
func (e *entry) at(path ...string) (key, value *yaml.Node) {
	if e == nil || e.node == nil {
		return nil, nil
	}
	value = e.node
	for _, name := range path {
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		found := false
		for i := 0; i+1 < len(value.Content) && value.Kind == yaml.MappingNode; i += 2 {
			if value.Content[i].Value == name {
				key, value, found = value.Content[i], value.Content[i+1], true
				break
			}
		}
		if !found {
			return nil, nil
		}
	}
	return key, value
}

// text is the value of a scalar.
func (e *entry) text() string {
	switch {
	case e == nil:
		return ""
	case e.node == nil:
		return e.value
	case e.node.Kind != yaml.ScalarNode:
		return ""
	}
	return e.node.Value
}

// opened returns the mapping of the entry. A value in braces is written again as a block for it; nil
// when the value is no mapping or holds aliases, which only make sense where they are.
func (e *entry) opened() *mapping {
	if e == nil || e.mapping != nil {
		return e.mappingOrNil()
	}
	if e.node == nil || e.node.Kind != yaml.MappingNode || len(e.node.Content) == 0 {
		return nil
	}
	lines, root := block(e.node)
	if root == nil {
		return nil
	}
	e.openHead()
	e.mapping = (&parser{lines: lines}).mapping(root, 0, len(lines), e.path)
	e.mapping.adopt(e.node)
	e.rest, e.offset = nil, 2
	return e.mapping
}

func (e *entry) mappingOrNil() *mapping {
	if e == nil {
		return nil
	}
	return e.mapping
}

// openedSequence is the same for sequences.
func (e *entry) openedSequence() *sequence {
	if e == nil || e.sequence != nil {
		if e == nil {
			return nil
		}
		return e.sequence
	}
	if e.node == nil || e.node.Kind != yaml.SequenceNode || len(e.node.Content) == 0 {
		return nil
	}
	lines, root := block(e.node)
	if root == nil {
		return nil
	}
	e.openHead()
	e.sequence = (&parser{lines: lines}).sequence(root, 0, 0, len(lines), e.path)
	for i, it := range e.sequence.items {
		if it.mapping == nil && i < len(e.node.Content) {
			it.node, it.line = e.node.Content[i], e.node.Content[i].Line
		}
	}
	e.rest, e.offset = nil, 2
	return e.sequence
}

// openHead leaves the key and the comment on the line.
func (e *entry) openHead() {
	comment := e.headComment()
	name, _, _ := strings.Cut(e.head, ":")
	e.head = strings.TrimRight(name+": "+comment, " ")
}

// opened is the same for the item of a sequence.
func (it *item) opened() *mapping {
	if it.mapping != nil {
		return it.mapping
	}
	if it.node == nil || it.node.Kind != yaml.MappingNode || len(it.node.Content) == 0 || it.node.Anchor != "" {
		return nil
	}
	lines, root := block(it.node)
	if root == nil {
		return nil
	}
	it.dash = "- "
	it.mapping = (&parser{lines: lines}).mapping(root, 0, len(lines), it.path)
	it.mapping.adopt(it.node)
	it.rest = nil
	return it.mapping
}

// adopt gives entries that were written again the nodes of the source, and with them their places.
func (m *mapping) adopt(source *yaml.Node) {
	for i, e := range m.entries {
		if key := 2 * i; key+1 < len(source.Content) && source.Content[key].Value == e.key {
			e.line, e.column, e.node = source.Content[key].Line, source.Content[key].Column, source.Content[key+1]
		}
	}
}

// block writes the node as a block and parses that; nil when the node cannot stand alone.
func block(n *yaml.Node) ([]string, *yaml.Node) {
	fresh := *n
	fresh.Style &^= yaml.FlowStyle
	fresh.Anchor, fresh.LineComment, fresh.HeadComment, fresh.FootComment = "", "", "", ""
	if n.Anchor != "" || holdsReference(n) {
		return nil, nil
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(&fresh); err != nil {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(b.Bytes(), &document); err != nil || len(document.Content) != 1 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), document.Content[0]
}

func holdsReference(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Anchor != "" || slices.ContainsFunc(n.Content, holdsReference)
}

// field writes a path as in messages: spec.pipeline.stages[0].
func field(path []any) string {
	var b strings.Builder
	for _, part := range path {
		switch part := part.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", part)
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(part)
		}
	}
	return b.String()
}
