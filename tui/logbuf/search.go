// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"context"
	"encoding/binary"
	"slices"
	"sort"
)

// Hits are the lines that match a pattern, of those that were searched.
type Hits struct {
	// Lines are their numbers, in order; at most MaxHits.
	Lines []int
	// Next is the number of the first line that was not searched yet.
	Next int
}

// MaxHits bounds how many lines are remembered.
const MaxHits = 1_000_000

// At returns the place among the hits of the nearest line: at or after line going forward, before or at it going
// back; round the ends. It is -1 without hits.
func (h Hits) At(line int, forward bool) int {
	if len(h.Lines) == 0 {
		return -1
	}
	at, exact := sort.Find(len(h.Lines), func(i int) int { return line - h.Lines[i] })
	if !forward && !exact {
		at--
	}
	return (at + len(h.Lines)) % len(h.Lines)
}

// progressSteps is after how many chunks a search reports how far it is: about one in a hundred of a million lines.
const progressSteps = 16

// Search goes on from where hits end and returns them with those found since, of lines of at least a level. It stops
// early when ctx ends. progress, unless nil, is called now and then with the share searched, from 0 to 1.
func (b *Buffer) Search(ctx context.Context, p Pattern, least Level, hits Hits, progress func(float64)) Hits {
	hits.Lines = slices.Clone(hits.Lines)
	s := search{buffer: b, pattern: p, least: least, hits: hits}
	begin, steps := hits.Next, 0
	for ctx.Err() == nil && len(s.hits.Lines) < MaxHits && s.step() {
		if steps++; progress != nil && steps%progressSteps == 0 {
			_, next := b.Span()
			progress(float64(s.hits.Next-begin) / float64(max(1, next-begin)))
		}
	}
	return s.hits
}

// search goes through a buffer chunk by chunk, with separate memory.
type search struct {
	buffer  *Buffer
	pattern Pattern
	least   Level
	hits    Hits
	finders []finder
	// text is that of a chunk, folded its lower case.
	text, folded []byte
	// lines are those of a chunk in memory.
	lines []entry
}

// step searches one chunk; it reports whether there may be more.
func (s *search) step() bool {
	part, from, more := s.take()
	switch {
	case !more || part == nil:
	case len(s.pattern.needles) > 0:
		s.needles(part, from)
	default:
		for i := range part.lines {
			s.line(part, i, from)
		}
	}
	return more
}

// take copies the next chunk, from the line on that was not searched yet: nothing that draws lines waits while they are
// matched. part is nil when the chunk cannot be read; of one in the file it has the text alone where a needle is looked
// for first.
func (s *search) take() (part *chunk, from int, more bool) {
	b := s.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	from = max(s.hits.Next, b.first)
	at := b.indexOf(from)
	if at == len(b.chunks) {
		s.hits.Next = max(s.hits.Next, b.next)
		return nil, from, false
	}
	c := b.chunks[at]
	s.hits.Next = c.end()
	switch {
	case c.length == 0:
		s.text = append(s.text[:0], c.text...)
		s.lines = append(s.lines[:0], c.lines...)
		return &chunk{start: c.start, count: c.count, text: s.text, lines: s.lines}, from, true
	case len(s.pattern.needles) == 0:
		return b.load(c), from, true // which nothing changes
	}
	s.text = slices.Grow(s.text[:0], int(c.textLength))[:c.textLength]
	if !b.read(c, s.text) {
		return nil, from, true
	}
	return &chunk{start: c.start, count: c.count, text: s.text}, from, true
}

// whole is a chunk of which only the text was read; nil when it is kept no more.
func (s *search) whole(part *chunk) *chunk {
	if part.lines != nil {
		return part
	}
	b := s.buffer
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.indexOf(part.start)
	if at == len(b.chunks) || b.chunks[at].start != part.start || b.closed {
		return nil
	}
	return b.load(b.chunks[at])
}

// needles searches the text of a whole chunk at once. Where the lines are matters only where a needle is.
func (s *search) needles(c *chunk, from int) {
	text := c.text
	if s.pattern.fold {
		s.folded = foldASCII(s.folded[:0], text)
		text = s.folded
	}
	if s.finders == nil {
		s.finders = newFinders(s.pattern.needles, text)
	}
	var found []int
	var page *chunk
	for _, f := range s.finders {
		for start := 0; ; {
			i := f.index(text[start:])
			if i < 0 {
				break
			}
			if page == nil {
				if page = s.whole(c); page == nil {
					return
				}
			}
			at := page.at(start + i)
			found = append(found, at)
			start = int(page.lines[at].end)
		}
	}
	slices.Sort(found)
	for _, at := range slices.Compact(found) {
		s.line(page, at, from)
	}
}

// line adds a line to the hits when it matches. A needle alone does not prove that, unless the pattern is exact.
func (s *search) line(c *chunk, at, from int) {
	if c.start+at < from || c.lines[at].level < s.least || len(s.hits.Lines) >= MaxHits {
		return
	}
	begin := uint32(0)
	if at > 0 {
		begin = c.lines[at-1].end
	}
	exact := s.pattern.exact && len(s.pattern.needles) > 0
	if exact || s.pattern.re != nil && s.pattern.re.Match(c.text[begin:c.lines[at].end-1]) {
		s.hits.Lines = append(s.hits.Lines, c.start+at)
	}
}

// foldASCII appends the lower case of text, eight letters at a time.
func foldASCII(to, text []byte) []byte {
	const ones = 0x0101010101010101
	at := len(to)
	to = append(to, text...)
	rest := to[at:]
	for ; len(rest) >= 8; rest = rest[8:] {
		x := binary.LittleEndian.Uint64(rest)
		low := x & (0x7f * ones)
		// The highest bit of each byte says: at least A, but not more than Z, and ASCII.
		upper := (low + (0x80-'A')*ones) &^ (low + (0x7f-'Z')*ones) &^ x & (0x80 * ones)
		binary.LittleEndian.PutUint64(rest, x|upper>>2)
	}
	for i, c := range rest {
		if c >= 'A' && c <= 'Z' {
			rest[i] = c | 0x20
		}
	}
	return to
}
