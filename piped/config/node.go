// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/system/yamlnumber"
)

// maxValues bounds the values of one file, so that a few nested aliases cannot fill the memory.
const maxValues = 200_000

// maxDepth bounds nesting: no configuration comes near, and deeper input would exhaust the stack.
const maxDepth = 200

// position is a place in a file, counted from 1.
type position struct{ line, column int }

type nodeKind int

const (
	nullNode nodeKind = iota
	stringNode
	integerNode
	floatNode
	boolNode
	mappingNode
	sequenceNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "text", "a number", "a number", "true or false", "a mapping", "a list"}[k]
}

// node is one YAML value with its place, with anchors, tags and merge keys resolved.
type node struct {
	kind nodeKind
	at   position
	// text is the value of a scalar: as decoded for text, in JSON form for the others.
	text string
	// source is a number as the file has it, such as 1.30; empty for every other value.
	source string
	keys   []key
	items  []*node
}

// key is one entry of a mapping.
type key struct {
	name  string
	at    position
	value *node
}

// child returns the value under the name, nil when there is none.
func (n *node) child(name string) *node {
	for i := range n.keys {
		if n.keys[i].name == name {
			return n.keys[i].value
		}
	}
	return nil
}

// describe says what the value is, for messages.
func (n *node) describe() string {
	switch n.kind {
	case stringNode:
		return strconv.Quote(shorten(n.text))
	case integerNode, floatNode:
		return shorten(cmp.Or(n.source, n.text))
	case boolNode:
		return n.text
	default:
		return n.kind.String()
	}
}

// shorten clips a value that a message shows.
func shorten(text string) string { return clip.Characters(text, 60) }

// json writes the value as JSON, mappings in the order of the file.
func (n *node) json(b []byte) []byte {
	switch n.kind {
	case nullNode:
		return append(b, "null"...)
	case stringNode:
		return appendJSONString(b, n.text)
	case mappingNode:
		b = append(b, '{')
		for i, entry := range n.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSONString(b, entry.name)
			b = append(b, ':')
			b = entry.value.json(b)
		}
		return append(b, '}')
	case sequenceNode:
		b = append(b, '[')
		for i, item := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.json(b)
		}
		return append(b, ']')
	default:
		return append(b, n.text...)
	}
}

func appendJSONString(b []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // A string always marshals; invalid UTF-8 is replaced.
		return append(b, '"', '"')
	}
	return append(b, quoted...)
}

// resolver turns the library's syntax tree into nodes.
type resolver struct {
	anchors map[string]*anchor
	values  int
	report  func(at position, message string)
}

// anchor is a named value; node is nil while it is being resolved, so that a value that holds itself is seen.
type anchor struct {
	node *node
	size int
}

func (r *resolver) resolve(tree ast.Node, depth int) *node {
	n := &node{at: placeOf(tree)}
	if depth > maxDepth {
		r.report(n.at, fmt.Sprintf("nested more than %d levels deep", maxDepth))
		return n
	}
	if !r.count(1, n.at) {
		return n
	}
	switch tree := tree.(type) {
	case nil:
	case *ast.NullNode:
	case *ast.StringNode:
		if value, is := yamlnumber.Of(tree); is {
			n.source = tree.Value
			r.float(n, value)
			break
		}
		n.kind, n.text = stringNode, r.checked(tree.Value, n.at)
	case *ast.LiteralNode:
		n.kind, n.text = stringNode, r.checked(tree.Value.Value, n.at)
	case *ast.BoolNode:
		n.kind, n.text = boolNode, strconv.FormatBool(tree.Value)
	case *ast.IntegerNode:
		n.kind, n.text, n.source = integerNode, fmt.Sprint(tree.Value), tree.GetToken().Value
	case *ast.FloatNode:
		n.source = tree.GetToken().Value
		r.float(n, tree.Value)
	case *ast.InfinityNode:
		r.float(n, tree.Value)
	case *ast.NanNode:
		r.float(n, math.NaN())
	case *ast.SequenceNode:
		n.kind = sequenceNode
		for _, item := range tree.Values {
			n.items = append(n.items, r.resolve(item, depth+1))
		}
	case *ast.MappingNode:
		n.kind = mappingNode
		r.mapping(n, tree.Values, depth)
	case *ast.MappingValueNode:
		n.kind = mappingNode
		r.mapping(n, []*ast.MappingValueNode{tree}, depth)
	case *ast.AnchorNode:
		name := tree.Name.String()
		entry := &anchor{}
		r.anchors[name] = entry
		before := r.values
		n = r.resolve(tree.Value, depth+1)
		entry.node, entry.size = n, r.values-before
	case *ast.AliasNode:
		return r.alias(tree, n)
	case *ast.TagNode:
		return r.tagged(tree, depth)
	default:
		r.report(n.at, "this form of YAML is not supported here")
	}
	return n
}

// checked reports a character that no program, file or protocol takes as text.
func (r *resolver) checked(text string, at position) string {
	if strings.ContainsRune(text, 0) {
		r.report(at, "holds the NUL character, which no value can have")
	}
	return text
}

func (r *resolver) count(values int, at position) bool {
	if r.values > maxValues {
		return false // Reported already.
	}
	if r.values += values; r.values > maxValues {
		r.report(at, fmt.Sprintf("more than %d values, with aliases counted as often as they are used", maxValues))
		return false
	}
	return true
}

func (r *resolver) float(n *node, value float64) {
	n.kind = floatNode
	if math.IsNaN(value) || math.IsInf(value, 0) {
		n.text = "0"
		r.report(n.at, "infinite numbers and NaN are not allowed")
		return
	}
	n.text = strconv.FormatFloat(value, 'g', -1, 64)
}

func (r *resolver) alias(tree *ast.AliasNode, n *node) *node {
	name := tree.Value.String()
	entry := r.anchors[name]
	switch {
	case entry == nil:
		r.report(n.at, fmt.Sprintf("alias *%s has no anchor &%s before it", name, name))
		return n
	case entry.node == nil:
		r.report(n.at, fmt.Sprintf("alias *%s is inside the value it names", name))
		return n
	}
	if !r.count(entry.size, n.at) {
		return n
	}
	alias := *entry.node // Messages name the place of use.
	alias.at = n.at
	return &alias
}

// tagged keeps the value's own type, except that !!str makes text of any scalar.
func (r *resolver) tagged(tree *ast.TagNode, depth int) *node {
	n := r.resolve(tree.Value, depth+1)
	switch tag := tree.Start.Value; tag {
	case "!!str":
		if tree.Value == nil {
			return &node{kind: stringNode, at: n.at}
		}
		if n.kind != mappingNode && n.kind != sequenceNode && n.kind != stringNode {
			return &node{kind: stringNode, at: n.at, text: tree.Value.GetToken().Value}
		}
	case "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
	default:
		r.report(placeOf(tree), fmt.Sprintf("tag %s is not supported", tag))
	}
	return n
}

func (r *resolver) mapping(n *node, entries []*ast.MappingValueNode, depth int) {
	seen := map[string]bool{}
	var merged []key
	for _, entry := range entries {
		if entry.Key.IsMergeKey() {
			merged = append(merged, r.merge(entry, depth)...)
			continue
		}
		name, at := r.keyName(entry.Key, depth)
		value := r.resolve(entry.Value, depth+1)
		if seen[name] {
			r.report(at, fmt.Sprintf("key %q is given twice", name))
			continue
		}
		seen[name] = true
		if value.kind == nullNode {
			value.at = at // An empty value has no place.
		}
		n.keys = append(n.keys, key{name: name, at: at, value: value})
	}
	for _, entry := range merged { // A mapping's own keys win, then the earlier merge.
		if !seen[entry.name] {
			seen[entry.name] = true
			n.keys = append(n.keys, entry)
		}
	}
}

func (r *resolver) merge(entry *ast.MappingValueNode, depth int) []key {
	value := r.resolve(entry.Value, depth+1)
	switch value.kind {
	case mappingNode:
		return value.keys
	case sequenceNode:
		var all []key
		for _, item := range value.items {
			if item.kind != mappingNode {
				r.report(item.at, "<< wants a mapping, or a list of mappings")
			}
			all = append(all, item.keys...)
		}
		return all
	}
	r.report(value.at, "<< wants a mapping, or a list of mappings")
	return nil
}

func (r *resolver) keyName(tree ast.MapKeyNode, depth int) (string, position) {
	var inner ast.Node = tree
	if explicit, ok := tree.(*ast.MappingKeyNode); ok {
		inner = explicit.Value
	}
	n := r.resolve(inner, depth+1)
	switch n.kind {
	case stringNode:
		return n.text, n.at
	case mappingNode, sequenceNode:
		r.report(n.at, "a key must be a single value")
		return "", n.at
	}
	// JSON keys are text: take a number or boolean as it is written.
	return inner.GetToken().Value, n.at
}

func placeOf(tree ast.Node) position {
	if tree == nil {
		return position{1, 1}
	}
	if mapping, ok := tree.(*ast.MappingNode); ok && !mapping.IsFlowStyle && len(mapping.Values) > 0 {
		return placeOf(mapping.Values[0])
	}
	if entry, ok := tree.(*ast.MappingValueNode); ok {
		return place(entry.Key.GetToken())
	}
	return place(tree.GetToken())
}

func place(tok *token.Token) position {
	if tok == nil || tok.Position == nil {
		return position{1, 1}
	}
	return position{max(tok.Position.Line, 1), max(tok.Position.Column, 1)}
}

// join appends a key or index to the path of a field.
func join(path, name string) string {
	if path == "" || strings.HasPrefix(name, "[") {
		return path + name
	}
	return path + "." + name
}
