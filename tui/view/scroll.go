// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

// position is the first line in sight and the row within it.
func (v *Log) position() (top, sub int) {
	first, next := v.Buffer.Span()
	if v.Following {
		return v.end()
	}
	if v.top < first {
		return first, 0
	}
	return min(v.top, max(first, next-1)), v.sub
}

// end is the position that has the last row at the bottom.
func (v *Log) end() (top, sub int) {
	first, next := v.Buffer.Span()
	rows := 0
	for i := next - 1; i >= first; i-- {
		lines := v.Buffer.Lines(i, 1)
		if len(lines) == 0 {
			break
		}
		rows += v.rowsOf(lines[0])
		if rows >= v.height {
			return i, rows - v.height
		}
	}
	return first, 0
}

// Scroll moves by rows: down when n is positive. Reaching the end follows again.
func (v *Log) Scroll(n int) {
	if v.Buffer == nil {
		return
	}
	top, sub := v.position()
	first, next := v.Buffer.Span()
	for ; n < 0 && (top > first || sub > 0); n++ {
		if sub > 0 {
			sub--
			continue
		}
		top--
		if lines := v.Buffer.Lines(top, 1); len(lines) > 0 {
			sub = v.rowsOf(lines[0]) - 1
		}
	}
	for ; n > 0 && top < next; n-- {
		sub++
		if lines := v.Buffer.Lines(top, 1); len(lines) == 0 || sub >= v.rowsOf(lines[0]) {
			top, sub = top+1, 0
		}
	}
	v.place(top, sub)
}

// place goes to a position, or follows when it is at or past the end.
func (v *Log) place(top, sub int) {
	endTop, endSub := v.end()
	v.Following = top > endTop || (top == endTop && sub >= endSub)
	v.top, v.sub = top, sub
}

// Page moves by screens.
func (v *Log) Page(n int) { v.Scroll(n * max(1, v.height-1)) }

// Start goes to the first line.
func (v *Log) Start() {
	if v.Buffer != nil {
		first, _ := v.Buffer.Span()
		v.place(first, 0)
		// A log that fits has nothing to follow, but asking for its start means to stay there.
		v.Following = false
	}
}

// Follow goes to the end and stays there.
func (v *Log) Follow() { v.Following = true }

// Show brings a line into sight, a third from the top.
func (v *Log) Show(line int) {
	if v.Buffer == nil {
		return
	}
	v.place(line, 0)
	v.Following = false
	v.Scroll(-v.height / 3)
	v.Following = false
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
func (v *Log) Slide(columns int) { v.Left = max(0, v.Left+columns) }
