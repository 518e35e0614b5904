// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

// The bounds of a ring: what a stream that has lost its connection finds again.
const (
	ringItems = 512
	ringBytes = 8 << 20
)

// item is an event that all watchers get.
type item struct {
	kind string
	body *body
}

// ring holds the last events. The first has the number first; next is that of the event to come. The zero value is
// empty.
type ring struct {
	items       []item
	first, next int
	bytes       int
}

// add appends an event, and forgets the oldest where there are too many.
func (r *ring) add(one item) {
	r.items = append(r.items, one)
	r.next++
	r.bytes += len(one.body.plain)
	drop := 0
	for len(r.items)-drop > ringItems || r.bytes > ringBytes && len(r.items)-drop > 0 {
		r.bytes -= len(r.items[drop].body.plain)
		r.items[drop] = item{}
		drop++
	}
	r.items, r.first = r.items[drop:], r.first+drop
}

// skip forgets everything: streams begin again with the whole state.
func (r *ring) skip() {
	r.next++
	r.items, r.first, r.bytes = nil, r.next, 0
}

// since returns the events from number from on; known is false when some are forgotten.
func (r *ring) since(from int) (items []item, known bool) {
	if from < r.first || from > r.next {
		return nil, false
	}
	return r.items[from-r.first:], true
}
