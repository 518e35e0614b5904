// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import "github.com/pipedeck/pipedeck/tui/text"

// position is the first line in sight and the row within it.
func (v *Log) position() (top, sub int) {
	if v.Following {
		return v.end()
	}
	top, sub = v.end() // no further than that, also when fewer lines are shown than before
	if lines := v.lines(v.top, 1); len(lines) > 0 && lines[0].Number <= top {
		switch number := lines[0].Number; {
		case number == v.top && number == top:
			return top, min(v.sub, sub)
		case number == v.top:
			return number, v.sub
		}
		return lines[0].Number, 0
	}
	return top, sub
}

// end is the position that has the last row at the bottom.
func (v *Log) end() (top, sub int) {
	first, next := v.Buffer.Span()
	if v.height == 0 {
		return first, 0 // not drawn yet
	}
	top = first
	for rows := 0; ; {
		before, found := v.before(next)
		if !found {
			return top, 0
		}
		lines := v.Buffer.Lines(before, 1)
		if len(lines) == 0 {
			return top, 0
		}
		if rows > 0 {
			rows += len(v.folded(before, next))
		}
		if rows += v.rowsOf(lines[0]); rows >= v.height {
			return before, min(rows-v.height, v.rowsOf(lines[0])-1)
		}
		top, next = before, before
	}
}

// Scroll moves by rows: down when n is positive, at most to the last row. It ends following.
func (v *Log) Scroll(n int) {
	if v.Buffer == nil {
		return
	}
	top, sub := v.position()
	for n < 0 {
		if step := min(sub, -n); step > 0 {
			sub, n = sub-step, n+step
			continue
		}
		before, found := v.before(top)
		if !found {
			break
		}
		top, n = before, n+1
		if lines := v.Buffer.Lines(top, 1); len(lines) > 0 {
			sub = v.rowsOf(lines[0]) - 1
		}
	}
	for n > 0 {
		lines := v.lines(top, 2)
		if len(lines) == 0 {
			break
		}
		if step := min(v.rowsOf(lines[0].Line)-1-sub, n); step > 0 {
			sub, n = sub+step, n-step
			continue
		}
		if len(lines) == 1 {
			break
		}
		top, sub, n = lines[1].Number, 0, n-1
	}
	v.place(top, sub)
}

// place goes to a position, at most to the last one, and stays there.
func (v *Log) place(top, sub int) {
	v.Hold()
	endTop, endSub := v.end()
	if top > endTop || (top == endTop && sub > endSub) {
		top, sub = endTop, endSub
	}
	v.top, v.sub = top, sub
}

// Hold stays at what is in sight, whatever comes.
func (v *Log) Hold() {
	if !v.Following {
		return
	}
	v.top, v.sub, v.seen = 0, 0, 0
	if v.Buffer != nil {
		v.top, v.sub = v.position()
		_, v.seen = v.Buffer.Span()
	}
	v.Following = false
}

// Mark remembers the place, and returns what goes back to it.
func (v *Log) Mark() func() {
	before := v.Reading
	return func() { v.Reading = before }
}

// Page moves by screens.
func (v *Log) Page(n int) { v.Scroll(n * max(1, v.height-1)) }

// Top goes to a line and has it first in sight.
func (v *Log) Top(line int) {
	if v.Buffer != nil {
		v.place(line, 0)
	}
}

// Start goes to the first line.
func (v *Log) Start() {
	if v.Buffer != nil {
		first, _ := v.Buffer.Span()
		v.place(first, 0)
	}
}

// End goes to the last line and stays there.
func (v *Log) End() {
	if v.Buffer != nil {
		v.place(v.end())
	}
}

// Follow goes to the end and stays there.
func (r *Reading) Follow() { r.Following = true }

// Show brings a line into sight, a third from the top, and of an unwrapped one the first match, or its start.
func (v *Log) Show(line int) {
	if v.Buffer == nil {
		return
	}
	v.place(line, 0)
	if v.top == line {
		v.Scroll(-v.height / 3)
	}
	lines := v.Buffer.Lines(line, 1)
	if v.Wrap || len(lines) == 0 {
		return
	}
	match := [2]int{}
	if matches := v.Search.Pattern.Matches(lines[0].Text); len(matches) > 0 {
		match = matches[0]
	}
	v.slideTo(lines[0].Text, match)
}

// slideTo brings a part of a line into sight, with some of the text before it.
func (v *Log) slideTo(line string, match [2]int) {
	from := text.Columns(line[:match[0]], v.Widths)
	to := from + text.Columns(line[match[0]:match[1]], v.Widths)
	if from >= v.Left && to < v.Left+v.room() {
		return
	}
	v.Left = 0
	if to >= v.room() {
		v.Left = max(0, from-v.room()/3)
	}
}

// Place is the number of the first line in sight.
func (v *Log) Place() int {
	if v.Buffer == nil {
		return 0
	}
	top, _ := v.position()
	return top
}

// Slide moves an unwrapped log sideways.
func (r *Reading) Slide(columns int) { r.Left = max(0, r.Left+columns) }
