// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/system/spelling"
)

// maxNear bounds the names that Nearest returns.
const maxNear = 3

// Nearest returns the names that a word with a typing mistake may stand for, the nearest first.
func Nearest(word string, names []string) []string {
	type near struct {
		name string
		far  int
	}
	var found []near
	for _, name := range names {
		far := spelling.Distance(strings.ToLower(word), strings.ToLower(name), len(word)+len(name)+1)
		if far <= max(1, min(len(word), len(name))/3) {
			found = append(found, near{name, far})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.far, b.far) })
	var nearest []string
	for _, one := range found[:min(len(found), maxNear)] {
		nearest = append(nearest, one.name)
	}
	return nearest
}
