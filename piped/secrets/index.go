// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"slices"
	"sort"
	"strings"
)

const (
	// window is the number of bytes that a place in a text is looked up by; no pattern is shorter.
	window     = 6
	windowMask = 1<<(8*window) - 1
	// minBeginning is the shortest beginning of a value that is taken for one at the end of a piece.
	minBeginning = 4
	filterBits   = 1 << 18
	// patternOverhead is about what the index needs for a pattern besides its text, in bytes.
	patternOverhead = 128
)

// index finds patterns. A filter of one bit a hash lets most places pass at the cost of a few
// instructions; the rest is looked up by the window, and compared.
type index struct {
	filter  [filterBits / 64]uint64
	windows map[uint64][]counted // the longest first
	// starts are the patterns that may be found by their beginning; sorted when clean.
	starts map[string]int
	sorted []string
	dirty  bool
}

// counted is a pattern with the number of values that have it.
type counted struct {
	text  string
	count int
}

func newIndex() *index { return &index{windows: map[uint64][]counted{}, starts: map[string]int{}} }

func (x *index) add(p pattern) {
	key := keyOf(p.text)
	x.filter[slot(key)/64] |= 1 << (slot(key) % 64)
	bucket := x.windows[key]
	at := slices.IndexFunc(bucket, func(c counted) bool { return c.text == p.text })
	if at >= 0 {
		bucket[at].count++
	} else {
		at = sort.Search(len(bucket), func(i int) bool { return len(bucket[i].text) < len(p.text) })
		x.windows[key] = slices.Insert(bucket, at, counted{p.text, 1})
	}
	if p.start {
		x.starts[p.text]++
		x.dirty = true
	}
}

func (x *index) remove(p pattern) {
	key := keyOf(p.text)
	bucket := x.windows[key]
	for i := range bucket {
		if bucket[i].text != p.text {
			continue
		}
		if bucket[i].count--; bucket[i].count == 0 {
			bucket = slices.Delete(bucket, i, i+1)
		}
		break
	}
	if x.windows[key] = bucket; len(bucket) == 0 {
		delete(x.windows, key)
	}
	if p.start {
		x.dirty = true
		if x.starts[p.text]--; x.starts[p.text] == 0 {
			delete(x.starts, p.text)
		}
	}
}

// refilter clears the filter of what was removed.
func (x *index) refilter() {
	clear(x.filter[:])
	for key := range x.windows {
		x.filter[slot(key)/64] |= 1 << (slot(key) % 64)
	}
}

// spans are the parts of a text that are patterns, joined where they overlap or touch.
func (x *index) spans(text string) []span {
	var spans []span
	if len(x.windows) == 0 {
		return nil
	}
	var key uint64
	for i := range len(text) {
		key = (key<<8 | uint64(text[i])) & windowMask
		at := slot(key)
		if i < window-1 || x.filter[at/64]&(1<<(at%64)) == 0 {
			continue
		}
		from := i - window + 1
		for _, candidate := range x.windows[key] {
			if strings.HasPrefix(text[from:], candidate.text) {
				spans = join(spans, span{from, from + len(candidate.text)})
				break
			}
		}
	}
	return spans
}

// spansWithEnd are spans, and the end of the text when a value may begin there.
func (x *index) spansWithEnd(text string) []span {
	spans := x.spans(text)
	x.sort()
	if len(x.sorted) == 0 {
		return spans
	}
	for from := max(0, len(text)-maxPattern+1); from <= len(text)-minBeginning; from++ {
		end := text[from:]
		at := sort.SearchStrings(x.sorted, end)
		if at < len(x.sorted) && strings.HasPrefix(x.sorted[at], end) {
			return join(spans, span{from, len(text)})
		}
	}
	return spans
}

func (x *index) sort() {
	if !x.dirty {
		return
	}
	x.sorted = x.sorted[:0]
	for text := range x.starts {
		x.sorted = append(x.sorted, text)
	}
	slices.Sort(x.sorted)
	x.dirty = false
}

// join adds a span that begins no earlier than the last one, or within it.
func join(spans []span, next span) []span {
	for len(spans) > 0 {
		last := &spans[len(spans)-1]
		if next.from > last.to {
			break
		}
		next.from, next.to = min(next.from, last.from), max(next.to, last.to)
		spans = spans[:len(spans)-1]
	}
	return append(spans, next)
}

func keyOf(pattern string) (key uint64) {
	for i := range window {
		key = key<<8 | uint64(pattern[i])
	}
	return key
}

// slot is the place of a window in the filter.
func slot(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 >> (64 - 18) }
