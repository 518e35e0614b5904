// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"fmt"
	"slices"
)

// merge gives the bindings the keys of the file. A line whose key means something else in the same place is left out,
// which can free or take keys of others; so the rest is merged again.
func (p *keyFile) merge(builtIn Map) Map {
	for {
		merged := slices.Clone(builtIn)
		for i, b := range merged {
			if e := p.entry(b); e != nil {
				merged[i].Keys, merged[i].Label = e.names(), ""
			}
		}
		wrong, found := p.conflict(merged)
		if !found {
			return merged
		}
		p.mistakes = append(p.mistakes, wrong)
		p.entries = slices.DeleteFunc(p.entries, func(e entry) bool { return e.address == wrong.Field })
	}
}

// entry is the line about b; nil when there is none.
func (p *keyFile) entry(b Binding) *entry {
	if i := slices.IndexFunc(p.entries, func(e entry) bool { return e.address == b.Address() }); i >= 0 {
		return &p.entries[i]
	}
	return nil
}

func (e *entry) names() []string {
	var names []string
	for _, k := range e.keys {
		if !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

// key is the place of a key of the line.
func (e *entry) key(name string) key {
	return e.keys[slices.IndexFunc(e.keys, func(k key) bool { return k.name == name })]
}

// conflict returns the last line with a key that means something else in the same place.
func (p *keyFile) conflict(merged Map) (Mistake, bool) {
	for at := len(p.entries) - 1; at >= 0; at-- {
		mine := &p.entries[at]
		i := slices.IndexFunc(merged, func(b Binding) bool { return b.Address() == mine.address })
		for _, k := range mine.keys {
			for j, other := range merged {
				if i == j || !slices.Contains(other.Keys, k.name) || !merged[i].meets(other) {
					continue
				}
				by := fmt.Sprintf("the built-in key of %s.%s", other.context(), other.Action)
				if e := p.entry(other); e != nil {
					their := e.key(k.name)
					by = e.address + " at " + place(p.name, their.line, their.column)
				}
				return Mistake{File: p.name, Line: k.line, Column: k.column, Field: mine.address,
					Message: fmt.Sprintf("%s is taken by %s; the built-in key stays", k.name, by)}, true
			}
		}
	}
	return Mistake{}, false
}
