// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield

import (
	"maps"
	"strings"
)

// Part is one step of the path of a difference.
type Part struct {
	// Name is that of a field, or of an element of a list when it has one.
	Name   string
	InList bool
	// Index is the number of an element in Git's list, or after its end for one that Git has not.
	Index int
}

// Difference is one field that differs. Git and Live are the whole objects; either may be nil.
type Difference struct {
	Parts     []Part
	Git, Live any
	// Indexed is the path with numbers for elements, all separated by dots.
	Indexed string
}

// Rest is what a rule ignores below a field.
type Rest struct{ path []segment }

// Covers reports whether a rule ignores a difference as a whole. When it ignores only something below the field, rest
// says what, and below is true.
func (r Rule) Covers(d Difference) (covered bool, rest Rest, below bool) {
	if r.Manager != "" {
		return false, rest, false
	}
	if r.plain != "" && (d.Indexed == r.plain || strings.HasPrefix(d.Indexed, r.plain+".")) {
		return true, rest, false
	}
	git, live := d.Git, d.Live
	parts := d.Parts
	for i, s := range r.path {
		if s.where == here {
			if !s.holds(git) && !s.holds(live) {
				return false, rest, false
			}
			continue
		}
		if len(parts) == 0 {
			return false, Rest{r.path[i:]}, true
		}
		p := parts[0]
		parts = parts[1:]
		switch {
		case p.InList && (s.where == inMap || !s.matchesElement(p.Name, p.Index)),
			!p.InList && (s.where == inList || !s.matches(p.Name)):
			return false, rest, false
		}
		git, live = child(git, p), child(live, p)
	}
	return true, rest, false
}

// child is the value of one step.
func child(value any, p Part) any {
	switch of := value.(type) {
	case map[string]any:
		return of[p.Name]
	case []any:
		for _, each := range of {
			if p.Name != "" && NameOf(each) == p.Name {
				return each
			}
		}
		if p.Name == "" && p.Index < len(of) {
			return of[p.Index]
		}
	}
	return nil
}

// Without returns a value without what is ignored below it; the value itself stays as it is.
func (r Rest) Without(value any) any {
	left, _ := prune(value, r.path)
	return left
}

// Finds reports whether an object has a field that the rule names.
func (r Rule) Finds(object map[string]any) bool {
	found := false
	visit(object, r.path, func() { found = true })
	return found || r.plain != "" && findsPlain(object, r.plain)
}

// findsPlain looks for a path whose names may themselves have dots.
func findsPlain(value any, path string) bool {
	of, _ := value.(map[string]any)
	for name, each := range of {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" ||
			strings.HasPrefix(rest, ".") && findsPlain(each, rest[1:])) {
			return true
		}
	}
	return false
}

// prune returns a value without what a path leads to; kept is false when that is the value itself.
func prune(value any, path []segment) (left any, kept bool) {
	if len(path) == 0 {
		return nil, false
	}
	s := path[0]
	if s.where == here {
		if s.holds(value) {
			return prune(value, path[1:])
		}
		return value, true
	}
	switch of := value.(type) {
	case map[string]any:
		fields := maps.Clone(of)
		for name, each := range of {
			if s.where == inList || !s.matches(name) {
				continue
			}
			if fields[name], kept = prune(each, path[1:]); !kept {
				delete(fields, name)
			}
		}
		return fields, true
	case []any:
		var list []any
		for i, each := range of {
			left, kept := each, true
			if s.where != inMap && s.matchesElement(NameOf(each), i) {
				left, kept = prune(each, path[1:])
			}
			if kept {
				list = append(list, left)
			}
		}
		return list, true
	}
	return value, true
}

// visit calls found for each value that a path leads to.
func visit(value any, path []segment, found func()) {
	if len(path) == 0 {
		found()
		return
	}
	s := path[0]
	if s.where == here {
		if s.holds(value) {
			visit(value, path[1:], found)
		}
		return
	}
	switch of := value.(type) {
	case map[string]any:
		for name, each := range of {
			if s.where != inList && s.matches(name) {
				visit(each, path[1:], found)
			}
		}
	case []any:
		for i, each := range of {
			if s.where != inMap && s.matchesElement(NameOf(each), i) {
				visit(each, path[1:], found)
			}
		}
	}
}
