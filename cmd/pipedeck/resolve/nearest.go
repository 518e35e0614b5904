// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"slices"
	"strings"
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
		far := distance(strings.ToLower(word), strings.ToLower(name))
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

// distance counts the letters to insert, delete, replace or exchange with the next one to get from a to b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last := make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(from); i++ {
		now := make([]int, len(to)+1)
		now[0] = i
		for j := 1; j <= len(to); j++ {
			change := 1
			if from[i-1] == to[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last = last, now
	}
	return last[len(to)]
}
