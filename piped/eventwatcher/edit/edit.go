// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
)

// maxDepth bounds the nesting of values.
const maxDepth = 1000

// Replace returns the content with the value at the place that r names; the content itself when it is
// there already.
func Replace(content []byte, r config.EventReplacement, value string) ([]byte, error) {
	switch {
	case r.YAMLField != "":
		return wrap("yamlField " + r.YAMLField)(replaceYAML(content, r.YAMLField, value))
	case r.JSONField != "":
		return wrap("jsonField " + r.JSONField)(replaceJSON(content, r.JSONField, value))
	case r.HCLField != "":
		return wrap("HCLField " + r.HCLField)(replaceHCL(content, r.HCLField, value))
	case r.Regex != "":
		return wrap("regex " + r.Regex)(replaceRegex(content, r.Regex, value))
	}
	return nil, errors.New("the replacement names no place: give yamlField, jsonField, HCLField or regex")
}

func wrap(what string) func([]byte, error) ([]byte, error) {
	return func(content []byte, err error) ([]byte, error) {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		return content, nil
	}
}

// span is a part of a content and what takes its place.
type span struct {
	start, end int
	text       string
}

// apply makes the replacements, which do not overlap.
func apply(content []byte, spans []span) []byte {
	if len(spans) == 0 {
		return content
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out bytes.Buffer
	at := 0
	for _, s := range spans {
		out.Write(content[at:s.start])
		out.WriteString(s.text)
		at = s.end
	}
	out.Write(content[at:])
	return out.Bytes()
}
