// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	// maxMergedFile bounds the files whose contents are merged, in bytes.
	maxMergedFile = 4 << 20
	// binaryProbe is how much of a file decides whether it is text (Git: the same).
	binaryProbe = 8000
)

// mergeText merges two texts that come from one, line by line. It is clean when no line that one side has changed
// is, or is next to, one that the other has changed otherwise (Git: the same).
func mergeText(base, ours, theirs string) (merged string, clean bool) {
	one, other := lineEdits(base, ours), lineEdits(base, theirs)
	var b strings.Builder
	at := 0
	for len(one) > 0 || len(other) > 0 {
		start, end := -1, 0
		take := func(list []udiff.Edit) (n int) {
			for n < len(list) && (start < 0 || list[n].Start <= end) {
				if start < 0 {
					start, end = list[n].Start, list[n].End
				}
				end = max(end, list[n].End)
				n++
			}
			return n
		}
		first, second := &one, &other
		if len(one) == 0 || len(other) > 0 && other[0].Start < one[0].Start {
			first, second = &other, &one
		}
		// A group grows as long as one of the sides has an edit that touches it.
		n, m := 0, 0
		for {
			more, others := take((*first)[n:]), 0
			n += more
			others = take((*second)[m:])
			m += others
			if more+others == 0 {
				break
			}
		}
		x := applied(base, start, end, (*first)[:n])
		if m > 0 && applied(base, start, end, (*second)[:m]) != x {
			return "", false
		}
		b.WriteString(base[at:start])
		b.WriteString(x)
		at = end
		*first, *second = (*first)[n:], (*second)[m:]
	}
	b.WriteString(base[at:])
	return b.String(), true
}

// lineEdits are the edits in lines. One that could as well stand further down, because lines repeat, does: two programs
// that look for conflicts must agree on where a line was added (Git: the same).
func lineEdits(before, after string) []udiff.Edit {
	list := udiff.Lines(before, after)
	for i := len(list) - 1; i >= 0; i-- {
		limit := len(before)
		if i+1 < len(list) {
			limit = list[i+1].Start
		}
		list[i] = slideDown(before, list[i], limit)
	}
	return list
}

// slideDown moves what only adds or only removes lines.
func slideDown(before string, e udiff.Edit, limit int) udiff.Edit {
	for e.End < limit {
		next := firstLine(before[e.End:])
		switch {
		case e.New == "":
			if gone := firstLine(before[e.Start:e.End]); gone != next {
				return e
			}
		case e.Start == e.End && firstLine(e.New) == next:
			e.New = e.New[len(next):] + next
		default:
			return e
		}
		e.Start += len(next)
		e.End += len(next)
	}
	return e
}

func firstLine(text string) string {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return text[:at+1]
	}
	return text
}

// applied is a part of the base with edits that lie in it.
func applied(base string, start, end int, edits []udiff.Edit) string {
	var b strings.Builder
	at := start
	for _, e := range edits {
		b.WriteString(base[at:e.Start])
		b.WriteString(e.New)
		at = e.End
	}
	b.WriteString(base[at:end])
	return b.String()
}

func isBinary(text string) bool {
	return slices.Contains([]byte(text[:min(len(text), binaryProbe)]), 0)
}
