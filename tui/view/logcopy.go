// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import "slices"

// lineSelection is a run of lines that the user has selected.
type lineSelection struct {
	on bool
	// from is where it began, to where the user has gone, by their numbers.
	from, to int
}

func (s lineSelection) has(line int) bool {
	return s.on && line >= min(s.from, s.to) && line <= max(s.from, s.to)
}

// maxSelected bounds how many lines are copied at once.
const maxSelected = 100_000

// Selecting reports whether lines are selected.
func (r *Reading) Selecting() bool { return r.selection.on }

// Unselect ends the selection.
func (r *Reading) Unselect() { r.selection = lineSelection{} }

// BeginSelection selects the line at which the search stands when it is in sight, else the first line in sight.
func (v *Log) BeginSelection() {
	_, numbers := v.rows()
	at := v.Place()
	if slices.Contains(numbers, v.Search.Hit) {
		at = v.Search.Hit
	}
	v.selection = lineSelection{true, at, at}
}

// Select extends the selection by n lines, or with pages by n screens of ten; it reports whether there is one.
func (v *Log) Select(n int, pages bool) bool {
	if !v.selection.on {
		return false
	}
	if pages {
		n = n / 10 * max(1, v.height-1)
	}
	n = max(-maxSelected, min(n, maxSelected))
	to := v.selection.to
	for ; n < 0; n++ {
		before, found := v.before(to)
		if !found {
			break
		}
		to = before
	}
	for ; n > 0; n-- {
		lines := v.lines(to+1, 1)
		if len(lines) == 0 {
			break
		}
		to = lines[0].Number
	}
	v.selection.to = to
	v.reveal(to)
	return true
}

// reveal scrolls until a line is in sight.
func (v *Log) reveal(line int) {
	_, numbers := v.rows()
	switch {
	case slices.Contains(numbers, line):
	case line < v.Place():
		v.place(line, 0)
	default:
		v.place(line, 0)
		v.Scroll(-(v.height - 1))
	}
}

// Copied returns the lines to copy as they are, neither wrapped nor cut, without their times: those that are selected,
// the one at which the search stands, or those in sight. hit says that it is the one of the search.
func (v *Log) Copied() (lines []string, hit bool) {
	if v.Buffer == nil {
		return nil, false
	}
	from, to := min(v.selection.from, v.selection.to), max(v.selection.from, v.selection.to)
	if !v.selection.on {
		_, numbers := v.rows()
		if slices.Contains(numbers, v.Search.Hit) {
			return []string{v.Buffer.Lines(v.Search.Hit, 1)[0].Text}, true
		}
		from, to = v.Place(), slices.Max(append(numbers, v.Place()-1))
	}
	for _, line := range v.lines(from, min(maxSelected, to-from+1)) {
		if line.Number <= to {
			lines = append(lines, line.Text)
		}
	}
	return lines, false
}
