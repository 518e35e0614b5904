// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strconv"
	"strings"
)

// At is the place of a field as the API names it, or of its nearest parent that is known. An item of a list may be
// named by its keys, as in containers[name="web"].image.
func (m Manifest) At(path string) string {
	if m.Unstructured == nil {
		return m.Origin.At(path)
	}
	return m.Origin.At(numbered(m.Object, path))
}

// Value returns the value of a field as the API names it; nil where there is none.
func (m Manifest) Value(path string) any {
	if m.Unstructured == nil {
		return nil
	}
	return ValueAt(m.Object, path)
}

// ValueAt returns the value of a field of an object as the API names it; nil where there is none.
func ValueAt(object map[string]any, path string) any {
	var value any = object
	for path != "" && value != nil {
		step, rest, inList := nextStep(path)
		path = rest
		switch at := value.(type) {
		case map[string]any:
			value = at[strings.TrimPrefix(step, ".")]
		case []any:
			i := itemAt(at, step)
			if !inList || i < 0 {
				return nil
			}
			value = at[i]
		default:
			return nil
		}
	}
	return value
}

// Twice returns the places of the first two items of a list that have the same keys, as in name="web", or, without a
// name in front of the sign, are the same text.
func (m Manifest) Twice(path, keys string) (first, second string, found bool) {
	items, _ := m.Value(path).([]any)
	var places []string
	for i, item := range items {
		if fields, _ := item.(map[string]any); keysOf(fields, keys) > 0 || fmt.Sprintf("=%q", item) == keys {
			places = append(places, m.At(fmt.Sprintf("%s[%d]", path, i)))
		}
	}
	if len(places) < 2 {
		return "", "", false
	}
	return places[0], places[1], true
}

// numbered names the items of lists by their numbers. It leaves the path as it is from the first item that is not
// there.
func numbered(object any, path string) string {
	var done strings.Builder
	value, rest := object, path
	for rest != "" {
		step, following, inList := nextStep(rest)
		if !inList {
			fields, _ := value.(map[string]any)
			value = fields[strings.TrimPrefix(step, ".")]
			done.WriteString(step)
			rest = following
			continue
		}
		entries, _ := value.(map[string]any)
		if entry, has := entries[step]; has { // data[key], of which the loader says data.key
			value = entry
			done.WriteString("." + step)
			rest = following
			continue
		}
		items, _ := value.([]any)
		i := itemAt(items, step)
		if i < 0 {
			break
		}
		value = items[i]
		fmt.Fprintf(&done, "[%d]", i)
		rest = following
	}
	return done.String() + rest
}

// nextStep cuts the first step off a path: the name of a field with its dot, or what is between brackets. Quotes may
// hold brackets.
func nextStep(path string) (step, rest string, inList bool) {
	if !strings.HasPrefix(path, "[") {
		end := strings.IndexAny(path[1:], ".[")
		if end < 0 {
			return path, "", false
		}
		return path[:end+1], path[end+1:], false
	}
	quoted := false
	for i, c := range path {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			return path[1:i], path[i+1:], true
		}
	}
	return path[1:], "", true
}

// itemAt returns the number of the item that is named by its number or its keys, as in name="web" or
// containerPort=80,protocol="TCP"; -1 for none.
func itemAt(items []any, name string) int {
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= len(items) {
			return -1
		}
		return i
	}
	best, most := -1, 0
	for i, item := range items {
		fields, _ := item.(map[string]any)
		if n := keysOf(fields, name); n > most {
			best, most = i, n
		}
	}
	return best
}

// keysOf counts the keys of a name that an item has, all with their values; 0 where one has another value. The API
// fills in keys with a default, such as the protocol of a port, so an item need not have all.
func keysOf(fields map[string]any, name string) (n int) {
	for pair := range strings.SplitSeq(name, ",") {
		key, want, _ := strings.Cut(pair, "=")
		if unquoted, err := strconv.Unquote(want); err == nil {
			want = unquoted
		}
		value, has := fields[key]
		switch {
		case has && fmt.Sprint(value) != want:
			return 0
		case has:
			n++
		}
	}
	return n
}
