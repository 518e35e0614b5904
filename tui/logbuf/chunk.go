// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"encoding/binary"
	"sort"
	"time"
)

// chunk is a run of lines, in memory or in the file. The texts stand one after the other, each with a line feed behind,
// so that a search goes through all of them at once.
type chunk struct {
	// start is the number of its first line, count how many it has.
	start, count int
	// levels counts its lines of each level.
	levels [levelCount]int

	// text and lines are what is in memory; nil in the file. raw has the bytes of lines whose text is not what came.
	text, raw []byte
	lines     []entry

	// offset and length say where it is in the file, textLength how much of that is text; length 0 means memory.
	offset, length, textLength int64
}

// entry is what a chunk keeps of a line besides its text.
type entry struct {
	nanos int64
	// end and rawEnd are the places behind the line in text and raw.
	end, rawEnd uint32
	severity    Severity
	level       Level
	// changed: raw has the line as it came.
	changed bool
}

// entryBytes is what an entry costs in memory.
const entryBytes = 24

func (c *chunk) end() int { return c.start + c.count }

// bytes is the size in memory.
func (c *chunk) bytes() int { return len(c.text) + len(c.raw) + len(c.lines)*entryBytes }

// has reports whether a line has at least a level.
func (c *chunk) has(least Level) bool {
	for _, n := range c.levels[least:] {
		if n > 0 {
			return true
		}
	}
	return false
}

func (c *chunk) add(line Line) {
	e := entry{severity: line.Severity, level: line.Level}
	if !line.Time.IsZero() {
		e.nanos = line.Time.UnixNano()
	}
	c.text = append(append(c.text, line.Text...), '\n')
	if line.Raw != "" && line.Raw != line.Text {
		e.changed = true
		c.raw = append(c.raw, line.Raw...)
	}
	e.end, e.rawEnd = uint32(len(c.text)), uint32(len(c.raw))
	c.lines = append(c.lines, e)
	c.levels[line.Level]++
	c.count++
}

// line returns a line by its place in the chunk, which is in memory.
func (c *chunk) line(i int) Line {
	e := c.lines[i]
	var from, rawFrom uint32
	if i > 0 {
		from, rawFrom = c.lines[i-1].end, c.lines[i-1].rawEnd
	}
	line := Line{Severity: e.severity, Level: e.level, Text: string(c.text[from : e.end-1])}
	line.Raw = line.Text
	if e.changed {
		line.Raw = string(c.raw[rawFrom:e.rawEnd])
	}
	if e.nanos != 0 {
		line.Time = time.Unix(0, e.nanos)
	}
	return line
}

// at returns the place of the line that has the byte of text at offset.
func (c *chunk) at(offset int) int {
	return sort.Search(len(c.lines), func(i int) bool { return int(c.lines[i].end) > offset })
}

// encode writes the text, then the rest of each line, then the raw bytes.
func (c *chunk) encode() []byte {
	data := make([]byte, 0, len(c.text)+len(c.raw)+len(c.lines)*8)
	data = append(data, c.text...)
	var nanos int64
	var end, rawEnd uint32
	for _, e := range c.lines {
		flags := byte(e.severity) | byte(e.level)<<3
		if e.changed {
			flags |= 1 << 6
		}
		data = append(data, flags)
		data = binary.AppendVarint(data, e.nanos-nanos)
		data = binary.AppendUvarint(data, uint64(e.end-end))
		if e.changed {
			data = binary.AppendUvarint(data, uint64(e.rawEnd-rawEnd))
		}
		nanos, end, rawEnd = e.nanos, e.end, e.rawEnd
	}
	return append(data, c.raw...)
}

// decode fills text, lines and raw of c from what encode wrote.
func (c *chunk) decode(data []byte, textLength int64) {
	c.text = data[:textLength]
	data = data[textLength:]
	c.lines = make([]entry, c.count)
	var last entry
	for i := range c.lines {
		e := entry{severity: Severity(data[0] & 7), level: Level(data[0] >> 3 & 7), changed: data[0]&(1<<6) != 0}
		nanos, n := binary.Varint(data[1:])
		data = data[1+n:]
		size, n := binary.Uvarint(data)
		data = data[n:]
		e.nanos, e.end, e.rawEnd = last.nanos+nanos, last.end+uint32(size), last.rawEnd
		if e.changed {
			size, n = binary.Uvarint(data)
			data = data[n:]
			e.rawEnd += uint32(size)
		}
		c.lines[i], last = e, e
	}
	c.raw = data
}
