// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"strconv"
)

// Value is a value of a file that a plugin owns. Package options checks it against the schema of the plugin.
type Value struct {
	// Field is the path of the value in the file, such as "spec.plugins.kubernetes".
	Field  string
	report *Report
	node   *node
}

// Value returns the value that the report keeps for a field: plugins[].config and deployTargets[].config of a piped
// configuration, plugins.<name> and stages[].with of an application configuration. A field that the file does not have
// is an empty mapping at the nearest field around it.
func (r *Report) Value(field string) Value {
	n := r.decoder.raw[field]
	if n == nil || n.kind == nullNode {
		n = &node{kind: mappingNode, at: r.decoder.place(field)}
	}
	return Value{Field: field, report: r, node: n}
}

// Any returns the value as encoding/json decodes it, numbers as [json.Number]. Keys with the value null are left out:
// they count as not given.
func (v Value) Any() any { return v.node.any() }

// At returns what the path of keys and indexes leads to, as [Value.Any] does; nil when nothing is there.
func (v Value) At(path []string) any {
	n := v.node
	for _, token := range path {
		if n, _ = n.step(token); n == nil {
			return nil
		}
	}
	return n.any()
}

// Error adds a mistake at what the path of keys and indexes leads to, or at the nearest value around it. onKey places
// the mistake at the key.
func (v Value) Error(path []string, onKey bool, message string) {
	v.report.Errors = append(v.report.Errors, v.problem(path, onKey, message))
}

// Warning is Error for what works all the same.
func (v Value) Warning(path []string, onKey bool, message string) {
	v.report.Warnings = append(v.report.Warnings, v.problem(path, onKey, message))
}

// Path returns the name of the field that a path of keys and indexes leads to.
func (v Value) Path(path []string) string {
	field, _, _ := v.find(path)
	return field
}

// Describe returns the value at the path for messages: a text in quotes, a number as it is, else its kind.
func (v Value) Describe(path []string) string {
	_, _, n := v.find(path)
	return n.describe()
}

func (v Value) problem(path []string, onKey bool, message string) *Error {
	field, key, n := v.find(path)
	at := n.at
	if onKey {
		at = key
	}
	return &Error{File: v.report.decoder.file, Line: at.line, Column: at.column, Field: field, Message: message}
}

// find returns the name of the field, the place of its key, and the value. What the file does not have is named, and
// placed at the value around it.
func (v Value) find(path []string) (field string, keyAt position, n *node) {
	field, n = v.Field, v.node
	keyAt = n.at
	for i, token := range path {
		next, at := n.step(token)
		if next == nil {
			for _, missing := range path[i:] {
				field = join(field, missing)
			}
			return field, keyAt, n
		}
		if n.kind == sequenceNode {
			token = "[" + token + "]"
		}
		field, keyAt, n = join(field, token), at, next
	}
	return field, keyAt, n
}

// step returns the value under a key or index, and the place of the key.
func (n *node) step(token string) (*node, position) {
	for _, entry := range n.keys {
		if entry.name == token {
			return entry.value, entry.at
		}
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.items) {
		return n.items[i], n.items[i].at
	}
	return nil, position{}
}

func (n *node) any() any {
	switch n.kind {
	case stringNode:
		return n.text
	case boolNode:
		return n.text == "true"
	case integerNode, floatNode:
		return json.Number(n.text)
	case mappingNode:
		mapping := make(map[string]any, len(n.keys))
		for _, entry := range n.keys {
			if entry.value.kind != nullNode {
				mapping[entry.name] = entry.value.any()
			}
		}
		return mapping
	case sequenceNode:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			list[i] = item.any()
		}
		return list
	}
	return nil
}
