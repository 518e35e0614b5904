// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import "strings"

// Nearest returns the known name that a misspelt one most likely means, "" when none is close. Upper
// and lower case are the same. Of names that are equally close, one that the misspelt name begins with, or that begins
// with it, is preferred: HIGHER means HIGH and not EITHER.
func Nearest(name string, known []string) string {
	most := 1 + (len(name)+2)/3
	best, bestDistance, bestBegins := "", most, false
	name = strings.ToLower(name)
	for _, candidate := range known {
		lower := strings.ToLower(candidate)
		begins := strings.HasPrefix(name, lower) || strings.HasPrefix(lower, name)
		distance := Distance(name, lower, most)
		if distance < bestDistance || distance < most && distance == bestDistance && begins && !bestBegins {
			best, bestDistance, bestBegins = candidate, distance, begins
		}
	}
	return best
}

// Slip reports whether the name is so near to a known one that it is hardly meant to be another.
func Slip(name string, known []string) bool {
	limit := 2
	if len(name) < 6 {
		limit = 1
	}
	for _, candidate := range known {
		if Distance(strings.ToLower(name), strings.ToLower(candidate), limit+1) <= limit {
			return true
		}
	}
	return false
}

// Distance counts the insertions, deletions, replacements and exchanges of neighbours between a and b, up to limit.
func Distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff >= limit || -diff >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	above, two := make([]int, len(b)+1), make([]int, len(b)+1)
	for i := range len(a) {
		two, above, row = above, row, two
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
