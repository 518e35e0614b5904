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
	if v.height == 0 {
		return first, 0 // not drawn yet
	}
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

// Scroll moves by rows: down when n is positive, at most to the last row. It ends following.
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
func (v *Log) Follow() { v.Following = true }

// Show brings a line into sight, a third from the top.
func (v *Log) Show(line int) {
	if v.Buffer == nil {
		return
	}
	v.place(line, 0)
	if v.top == line {
		v.Scroll(-v.height / 3)
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
func (v *Log) Slide(columns int) { v.Left = max(0, v.Left+columns) }
