// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
)

// rules are the keywords that schemas of plugins may have besides those of JSON Schema, for what values have to do with
// each other. Package optionschema describes them. Other readers of a schema ignore them.
var rules = map[string]func(argument, value any) *broken{
	"atMostEntries": atMostEntries,
	"atMost":        atMost,
	"atLeast":       atLeast,
	"different":     different,
	"shares":        shares,
	"uniqueBy":      uniqueBy,
	"shorter":       shorter,
	"fits":          fits,
}

var vocabulary = &jsonschema.Vocabulary{
	URL: "plugin:vocabulary",
	Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
		own := maps.Clone(schema)
		maps.DeleteFunc(own, func(keyword string, _ any) bool { return rules[keyword] == nil })
		if len(own) == 0 {
			return nil, nil
		}
		return ruled(own), nil
	},
}

// ruled holds the arguments of rules by their keywords.
type ruled map[string]any

// Validate implements [jsonschema.SchemaExt].
func (r ruled) Validate(ctx *jsonschema.ValidatorContext, value any) {
	for _, keyword := range slices.Sorted(maps.Keys(r)) {
		for b := rules[keyword](r[keyword], value); b != nil; b = b.next {
			b.keyword = keyword
			ctx.AddError(b)
		}
	}
}

// broken is the error of a value that breaks a rule. The path leads to it from the value with the rule; the text is the
// end of a message that begins with the value.
type broken struct {
	keyword string
	path    []string
	text    string
	// next is another value that breaks the rule.
	next *broken
}

// KeywordPath implements [jsonschema.ErrorKind].
func (b *broken) KeywordPath() []string { return []string{b.keyword} }

// LocalizedString implements [jsonschema.ErrorKind].
func (b *broken) LocalizedString(*message.Printer) string { return b.text }

// atMostEntries: {"count": "list"} says that the number count is at most that of the different entries of the list. A
// list without entries bounds nothing.
func atMostEntries(argument, value any) *broken {
	mapping, counts := asObject(value), asObject(argument)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		list, _ := counts[key].(string)
		wanted, is := number(mapping[key])
		entries := map[string]bool{}
		for _, entry := range asList(mapping[list]) {
			entries[fmt.Sprint(entry)] = true
		}
		if is && len(entries) > 0 && wanted > float64(len(entries)) {
			unit := "entries"
			if len(entries) == 1 {
				unit = "entry"
			}
			return &broken{path: []string{key}, text: fmt.Sprintf("is more than %s has: %d %s", list, len(entries),
				unit)}
		}
	}
	return nil
}

// atMost: {"low": "high"} says that the number low is at most the number high, where both are given.
func atMost(argument, value any) *broken {
	mapping, pairs := asObject(value), asObject(argument)
	for _, low := range slices.Sorted(maps.Keys(pairs)) {
		high, _ := pairs[low].(string)
		a, given := number(mapping[low])
		b, too := number(mapping[high])
		if given && too && a > b {
			return &broken{path: []string{low}, text: fmt.Sprintf("is more than %s, which is %v", high, b)}
		}
	}
	return nil
}

// different: {"a": "x", "b": "y"} says that the texts a and b, which are x and y by default, are not the same.
func different(argument, value any) *broken {
	mapping, defaults, users := asObject(value), asObject(argument), map[string]string{}
	text := func(key string) string {
		if given, _ := mapping[key].(string); given != "" {
			return given
		}
		standard, _ := defaults[key].(string)
		return standard
	}
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		other, taken := users[text(key)]
		if !taken {
			users[text(key)] = key
			continue
		}
		if _, given := mapping[key]; !given {
			key, other = other, key
		}
		return &broken{path: []string{key}, text: "is the " + other + " already"}
	}
	return nil
}

// shares: ["rest", "a", "b"] says that the percentages are 100 together, or 100 at most when the first is not given.
func shares(argument, value any) *broken {
	mapping, total, last := asObject(value), 0.0, ""
	var names []string
	for _, key := range asList(argument) {
		name, _ := key.(string)
		names = append(names, name)
		if share, is := number(mapping[name]); is {
			total, last = total+share, name
		}
	}
	if len(names) == 0 || last == "" {
		return nil
	}
	_, complete := mapping[names[0]]
	if total > 100 || complete && total < 100 {
		return &broken{path: []string{last}, text: fmt.Sprintf("makes %v%% of %s together: want 100%%", total,
			strings.Join(names, ", "))}
	}
	return nil
}

// uniqueBy: "a.b" says that no two entries of a list have the same text there.
func uniqueBy(argument, value any) *broken {
	place, _ := argument.(string)
	path, first := strings.Split(place, "."), map[string]int{}
	for i, entry := range asList(value) {
		inner := entry
		for _, key := range path {
			inner = asObject(inner)[key]
		}
		text, _ := inner.(string)
		if text == "" {
			continue
		}
		if at, again := first[text]; again {
			return &broken{path: append([]string{fmt.Sprint(i)}, path...), text: fmt.Sprintf("is that of entry %d "+
				"already", at+1)}
		}
		first[text] = i
	}
	return nil
}

// number reads a number, or a percentage that is text.
func number(value any) (float64, bool) {
	if text, is := value.(string); is {
		value = json.Number(strings.TrimSuffix(text, "%"))
	}
	given, is := value.(json.Number)
	if !is {
		return 0, false
	}
	n, err := given.Float64()
	return n, err == nil
}
