// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"regexp"
)

// replaceRegex replaces what the first group has matched, at every match (PipeCD v1).
func replaceRegex(content []byte, expression, value string) ([]byte, error) {
	compiled, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	if compiled.NumSubexp() == 0 {
		return nil, errors.New("has no group: put what is to be replaced in parentheses")
	}
	matches := compiled.FindAllSubmatchIndex(content, -1)
	var spans []span
	found := false
	for _, m := range matches {
		start, end := m[2], m[3]
		if start < 0 {
			continue // an optional group that took no part
		}
		found = true
		if string(content[start:end]) != value {
			spans = append(spans, span{start, end, value})
		}
	}
	if !found {
		return nil, fmt.Errorf("matches nothing in the file")
	}
	return apply(content, spans), nil
}
