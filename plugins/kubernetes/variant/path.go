// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"strconv"
	"strings"
)

// field is a place that exists in a document.
type field struct {
	m     map[string]any
	key   string
	list  []any
	index int
}

func (f field) get() any {
	if f.m != nil {
		return f.m[f.key]
	}
	return f.list[f.index]
}

func (f field) set(v any) {
	if f.m != nil {
		f.m[f.key] = v
		return
	}
	f.list[f.index] = v
}

// fieldsAt walks a path such as "$.spec.containers[0].image", "$.data['envoy.yaml']", "$.data.'envoy.yaml'" (as PipeCD
// v1 has it) or "$.spec.containers[*].image", which are several fields. There is at least one, or an error.
func fieldsAt(root any, path string) ([]field, error) {
	steps, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	found, parents := []field(nil), []any{root}
	for _, step := range steps {
		found = nil
		for _, parent := range parents {
			below, err := step.of(parent)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			found = append(found, below...)
		}
		parents = parents[:0:0]
		for _, f := range found {
			parents = append(parents, f.get())
		}
	}
	return found, nil
}

// step is one part of a path.
type step struct {
	name string
	// quoted makes a "*" a name.
	quoted bool
}

func (s step) of(parent any) ([]field, error) {
	switch node := parent.(type) {
	case map[string]any:
		if _, ok := node[s.name]; !ok {
			return nil, fmt.Errorf("there is no field %q", s.name)
		}
		return []field{{m: node, key: s.name}}, nil
	case []any:
		if s.name == "*" && !s.quoted && len(node) > 0 {
			all := make([]field, len(node))
			for i := range node {
				all[i] = field{list: node, index: i}
			}
			return all, nil
		}
		i, err := strconv.Atoi(s.name)
		if err != nil || i < 0 || i >= len(node) {
			return nil, fmt.Errorf("a list of %d has no item %q", len(node), s.name)
		}
		return []field{{list: node, index: i}}, nil
	}
	return nil, fmt.Errorf("nothing is below %q", s.name)
}

func splitPath(path string) ([]step, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	var steps []step
	for rest != "" {
		var s step
		var err error
		if rest[0] == '[' {
			s, rest, err = splitBracket(rest[1:])
		} else {
			s, rest, err = splitName(rest)
		}
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", path, err)
		}
		if s.name == "" {
			return nil, fmt.Errorf("path %q: a name is missing", path)
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("path %q names no field", path)
	}
	return steps, nil
}

// splitBracket reads what stands after a "[".
func splitBracket(text string) (s step, rest string, err error) {
	if text != "" && strings.ContainsRune(`'"`, rune(text[0])) {
		if s, rest, err = splitQuoted(text); err != nil {
			return s, "", err
		}
		after, ok := strings.CutPrefix(rest, "]")
		if !ok {
			return s, "", fmt.Errorf("a [ is not closed")
		}
		return s, strings.TrimPrefix(after, "."), nil
	}
	inner, after, ok := strings.Cut(text, "]")
	if !ok {
		return s, "", fmt.Errorf("a [ is not closed")
	}
	return step{name: inner}, strings.TrimPrefix(after, "."), nil
}

func splitName(text string) (s step, rest string, err error) {
	if text[0] == '\'' {
		s, rest, err = splitQuoted(text)
		return s, strings.TrimPrefix(rest, "."), err
	}
	end := strings.IndexAny(text, ".[")
	if end < 0 {
		end = len(text)
	}
	return step{name: text[:end]}, strings.TrimPrefix(text[end:], "."), nil
}

func splitQuoted(text string) (s step, rest string, err error) {
	name, rest, ok := strings.Cut(text[1:], text[:1])
	if !ok {
		return s, "", fmt.Errorf("a quotation mark is not closed")
	}
	return step{name: name, quoted: true}, rest, nil
}
