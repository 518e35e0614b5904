// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Change is one field that two values do not have in common.
type Change struct {
	// Path names the field: "spec.ports[0].name".
	Path string
	// Before and After are nil where the field is absent; Added and Removed say so.
	Before, After any
	// Added is whether the field is only in the second value, Removed whether it is only in the first.
	Added, Removed bool
}

// String is the change on one line: "spec.replicas: 2 → 3".
func (c Change) String() string {
	switch {
	case c.Added:
		return c.Path + ": added " + text(c.After)
	case c.Removed:
		return c.Path + ": removed " + text(c.Before)
	default:
		return c.Path + ": " + text(c.Before) + " → " + text(c.After)
	}
}

// text is a value as JSON.
func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// Changes are the fields that differ, in the order of their paths.
type Changes []Change

// String has one line for each change, and no line end at the end.
func (c Changes) String() string {
	lines := make([]string, 0, len(c))
	for _, change := range c {
		lines = append(lines, change.String())
	}
	return strings.Join(lines, "\n")
}

// Options say what is no change. The zero value compares everything.
type Options struct {
	// Ignore is asked for each path that differs.
	Ignore func(path string) bool
	// OnlyGiven ignores fields that only the second value has: where a platform fills in defaults, a live object has
	// more fields than Git.
	OnlyGiven bool
}

// Values compares two decoded documents: maps with text keys, lists, texts, numbers, truth values and nil, as
// encoding/json and YAML decoders give them. Numbers are equal by their value, whatever their types. An absent map or
// list and an empty one are equal. Lists are compared element by element.
func Values(before, after any, options Options) Changes {
	c := comparison{options: options}
	c.compare("", before, after)
	return c.found
}

type comparison struct {
	options Options
	found   Changes
}

func (c *comparison) compare(path string, before, after any) {
	switch first := before.(type) {
	case map[string]any:
		if second, is := after.(map[string]any); is {
			c.maps(path, first, second)
			return
		}
	case []any:
		if second, is := after.([]any); is {
			c.lists(path, first, second)
			return
		}
	}
	if !same(before, after) {
		c.add(Change{Path: path, Before: before, After: after})
	}
}

func (c *comparison) maps(path string, before, after map[string]any) {
	keys := slices.Sorted(maps.Keys(before))
	for key := range after {
		if _, both := before[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		at := join(path, key)
		first, inFirst := before[key]
		second, inSecond := after[key]
		c.field(at, first, second, inFirst, inSecond)
	}
}

func (c *comparison) lists(path string, before, after []any) {
	for i := range max(len(before), len(after)) {
		var first, second any
		if i < len(before) {
			first = before[i]
		}
		if i < len(after) {
			second = after[i]
		}
		c.field(path+"["+strconv.Itoa(i)+"]", first, second, i < len(before), i < len(after))
	}
}

// field compares what may be absent on one side.
func (c *comparison) field(path string, before, after any, inFirst, inSecond bool) {
	switch {
	case inFirst && inSecond:
		c.compare(path, before, after)
	case inFirst && !empty(before):
		c.add(Change{Path: path, Before: before, Removed: true})
	case inSecond && !empty(after) && !c.options.OnlyGiven:
		c.add(Change{Path: path, After: after, Added: true})
	}
}

func (c *comparison) add(change Change) {
	if c.options.Ignore == nil || !c.options.Ignore(change.Path) {
		c.found = append(c.found, change)
	}
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

func same(before, after any) bool {
	if empty(before) && empty(after) {
		return true
	}
	first, isNumber := number(before)
	second, too := number(after)
	if isNumber && too {
		return first == second
	}
	return reflect.DeepEqual(before, after)
}

// number is the exact text of a number, so that large ones do not become equal.
func number(value any) (string, bool) {
	if n, is := value.(json.Number); is {
		if whole, err := n.Int64(); err == nil {
			return strconv.FormatInt(whole, 10), true
		}
		if float, err := n.Float64(); err == nil {
			return number(float)
		}
		return "", false
	}
	switch v := reflect.ValueOf(value); {
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, 64), true
	}
	return "", false
}

// join names a key below a path; a key with dots or brackets is quoted.
func join(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\"") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
