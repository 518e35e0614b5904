// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Bounds of a walk, because a schema may refer to itself without end: its depth, and its steps.
const (
	deepestWalk = 100
	longestWalk = 100_000
)

// advise warns of keys that the schema marks as deprecated, and of durations that are most likely not meant. It refuses
// durations of a stage that do not fit in its timeout; a timeout of 0 is not known.
func (s *Schema) advise(schema *jsonschema.Schema, value config.Value, timeout time.Duration) {
	w := &walk{schema: s, value: value, timeout: timeout, seen: map[string]bool{}}
	w.at(s.lookup(schema.Location), value.Any(), nil, 0)
}

// walk visits the values that a schema describes. It follows properties, other keys, entries of lists and references
// within the document.
type walk struct {
	schema *Schema
	value  config.Value
	// timeout is that of the stage; 0 where there is none.
	timeout time.Duration
	// seen are the paths that have a warning, because parts of a schema may describe the same value.
	seen  map[string]bool
	steps int
}

func (w *walk) warn(path []string, onKey bool, message string) {
	if at := strings.Join(path, "\x00"); !w.seen[at] {
		w.seen[at] = true
		w.value.Warning(path, onKey, message)
	}
}

func (w *walk) at(document map[string]any, value any, path []string, depth int) {
	w.steps++
	if document == nil || depth > deepestWalk || w.steps > longestWalk {
		return
	}
	if reference, _ := document["$ref"].(string); reference != "" {
		w.at(w.schema.lookup(reference), value, path, depth+1)
		return
	}
	for _, part := range asList(document["allOf"]) {
		w.at(asObject(part), value, path, depth+1)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			property := asObject(asObject(document["properties"])[name])
			if property == nil {
				property = asObject(document["additionalProperties"])
			}
			below := append(slices.Clone(path), name)
			if property["deprecated"] == true {
				description, _ := property["description"].(string)
				w.warn(below, true, description)
			}
			w.at(property, inner, below, depth+1)
		}
	case string:
		w.tooLong(document, value, path)
		if duration, err := time.ParseDuration(value); err == nil {
			w.beyondTimeout(document, duration, path)
		}
	case json.Number:
		nanoseconds, err := value.Int64()
		if err == nil && isDuration(document) && config.IsHardlyDuration(nanoseconds) {
			w.warn(path, false, config.HardlyDuration(value.String()))
		}
		if err == nil && isDuration(document) {
			w.beyondTimeout(document, time.Duration(nanoseconds), path)
		}
	case []any:
		for i, item := range value {
			w.at(asObject(document["items"]), item, append(slices.Clone(path), fmt.Sprint(i)), depth+1)
		}
	}
}

// tooLong refuses a duration of the right form that no program can count.
func (w *walk) tooLong(document map[string]any, text string, path []string) {
	if !isDuration(document) || w.seen[strings.Join(path, "\x00")] {
		return
	}
	pattern, _ := document["pattern"].(string)
	form, err := regexp.MatchString(pattern, text)
	if _, wrong := time.ParseDuration(text); wrong != nil && form && err == nil {
		w.seen[strings.Join(path, "\x00")] = true
		w.value.Error(path, false, w.value.Describe(path)+" is longer than 290 years, the longest duration")
	}
}

// beyondTimeout refuses a duration that the stage cannot reach.
func (w *walk) beyondTimeout(document map[string]any, duration time.Duration, path []string) {
	if document["withinTimeout"] == true && w.timeout > 0 && duration >= w.timeout {
		w.value.Error(path, false, fmt.Sprintf("%s does not fit in the timeout of the stage, which is %s: the stage "+
			"would always fail; give it a longer timeout", w.value.Describe(path), short(w.timeout)))
	}
}

// short writes a duration without parts that are 0: 6h, not 6h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// isDuration reports whether a schema is that of a duration: a text with units, or a number of nanoseconds.
func isDuration(document map[string]any) bool {
	pattern, _ := document["pattern"].(string)
	return slices.Contains(asList(document["type"]), any("integer")) && strings.Contains(pattern, "ns|us|")
}
