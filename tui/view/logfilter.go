// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"sort"

	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// lines are the lines that are shown from a number on, at most n.
func (v *Log) lines(from, n int) []logbuf.Numbered {
	if !v.Search.Only {
		return v.Buffer.Select(from, n, v.Least)
	}
	var lines []logbuf.Numbered
	for at := sort.SearchInts(v.Search.Hits, from); at < len(v.Search.Hits) && len(lines) < n; at++ {
		// A line that is kept no more is left out.
		if found := v.Buffer.Select(v.Search.Hits[at], 1, logbuf.Source); len(found) > 0 &&
			found[0].Number == v.Search.Hits[at] {
			lines = append(lines, found[0])
		}
	}
	return lines
}

// Anchor is where the reader of the lines with a hit is in the whole log: at the hit where the search stands while it
// is in sight, else at the first line in sight. known is false where that says nothing: all these lines are in sight.
func (v *Log) Anchor() (line int, hit, known bool) {
	if v.Buffer == nil {
		return 0, false, false
	}
	_, numbers := v.rows()
	if v.Search.Hit >= 0 && slices.Contains(numbers, v.Search.Hit) {
		return v.Search.Hit, true, true
	}
	top, _ := v.position()
	_, above := v.before(top)
	_, end := v.end()
	return top, false, len(numbers) > 0 && (above || end > 0)
}

// before is the last line that is shown before a number.
func (v *Log) before(number int) (line int, found bool) {
	if !v.Search.Only {
		return v.Buffer.Before(number, v.Least)
	}
	first, _ := v.Buffer.Span()
	at := sort.SearchInts(v.Search.Hits, number) - 1
	if at < 0 || v.Search.Hits[at] < first {
		return 0, false
	}
	return v.Search.Hits[at], true
}
