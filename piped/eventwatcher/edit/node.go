// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/piped/config/fieldpath"
)

// node is a value in a YAML or JSON file.
type node struct {
	keys  []string // of a mapping, next to items
	items []*node  // of a mapping or a sequence
	kind  kind
	// text is the value of a scalar, start and end its place in the file.
	text       string
	start, end int
	style      style
}

type kind int

const (
	scalar kind = iota
	mapping
	sequence
	alias
)

func (k kind) String() string { return []string{"a value", "a mapping", "a list", "an alias"}[k] }

// style says how a scalar is written.
type style struct {
	// quote is ' or " or 0.
	quote byte
	// isText is false for numbers, booleans and null.
	isText bool
	// problem is why the scalar cannot be replaced; empty when it can.
	problem string
}

// find returns the scalars that the path leads to.
func find(roots []*node, path []fieldpath.Step) ([]*node, error) {
	at := roots
	for _, s := range path {
		var next []*node
		reached := map[*node]bool{} // two ways to a value are no two values
		for _, n := range at {
			for _, n := range n.follow(s) {
				if !reached[n] {
					reached[n] = true
					next = append(next, n)
				}
			}
		}
		at = next
	}
	if len(at) == 0 {
		return nil, errors.New("there is no such field in the file")
	}
	for _, n := range at {
		if n.kind != scalar {
			return nil, fmt.Errorf("the field is %s, only single values can be replaced", n.kind)
		}
		if n.style.problem != "" {
			return nil, fmt.Errorf("the field %s", n.style.problem)
		}
	}
	return at, nil
}

func (n *node) follow(s fieldpath.Step) []*node {
	switch {
	case s.Deep:
		return n.deep(s.Name)
	case s.All:
		return n.items
	case s.Name != "" && n.kind == mapping:
		for i, key := range n.keys {
			if key == s.Name {
				return n.items[i : i+1]
			}
		}
	case s.Name == "" && n.kind == sequence && s.Index < len(n.items):
		return n.items[s.Index : s.Index+1]
	}
	return nil
}

func (n *node) deep(name string) []*node {
	var found []*node
	for i, item := range n.items {
		if n.kind == mapping && n.keys[i] == name {
			found = append(found, item)
		}
		found = append(found, item.deep(name)...)
	}
	return found
}

// scalars are all values below the nodes with the keys that lead to them, in the order of the file.
func scalars(nodes []*node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.kind.String())
		if n.kind == scalar {
			list = append(list, n.text)
		}
		list = append(list, n.keys...)
		list = append(list, scalars(n.items)...)
	}
	return list
}

// verify makes sure that only the wanted values have changed.
func verify(before, after []*node, changed []*node, value string) error {
	for _, n := range changed {
		n.text = value
	}
	a, b := scalars(before), scalars(after)
	if len(a) != len(b) {
		return errors.New("the value cannot stand there: it would change the structure of the file")
	}
	for i := range a {
		if a[i] != b[i] {
			return errors.New("the value cannot stand there: the file would say something else")
		}
	}
	return nil
}
