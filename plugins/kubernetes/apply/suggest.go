// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// suggest is what to do about a field that a kind does not have: the nearest name next to it, else a place further up
// that has the name.
func suggest(path string, ask inquiry) string {
	const unknown = "look for a misspelling or a wrong indentation"
	if ask.fields == nil {
		return unknown
	}
	name := lastName(path)
	if near := nearest(name, ask.fields(path)); near != "" {
		return "did you mean " + near + "?"
	}
	for up := manifest.ParentPath(path); up != ""; up = manifest.ParentPath(up) {
		for _, known := range ask.fields(up) {
			if known == name {
				return "the field belongs next to " + lastName(up) + ": look at its indentation"
			}
		}
	}
	return unknown
}

// nearest returns the name that a misspelt one most likely means; empty when none is near enough.
func nearest(name string, known []string) string {
	best, least := "", 1+(len(name)+2)/3
	for _, candidate := range known {
		if n := distance(strings.ToLower(name), strings.ToLower(candidate)); n < least {
			best, least = candidate, n
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(row[j]+1, before+1, replaced)
		}
	}
	return row[len(b)]
}
