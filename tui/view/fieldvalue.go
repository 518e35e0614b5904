// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"encoding/json"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
)

// shown is a JSON value as people write it: strings without quotes where they are on one line. An absent one has a
// word.
func shown(value string) string {
	if value == "" {
		return "absent"
	}
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return value
	}
	if s == "" || strings.TrimSpace(s) != s || text.Line(s) != s {
		return value
	}
	return s
}

// lines are those of a JSON string that has several; cleaned.
func lines(value string) ([]string, bool) {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil || !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") {
		return nil, false
	}
	all := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range all {
		all[i] = text.Clean(all[i])
	}
	return all, true
}
