// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"slices"
)

// scan is what a reader finds in a file. Use scanFile.
type scan struct {
	data []byte
	// found gets the body of each whole record in their order; it returns false for a body that makes no sense.
	found func(body []byte) (ok bool)

	// records is the number of whole records, last the number of the last one, end the offset after it.
	records int
	last    uint64
	end     int
	// damaged says that something is wrong before end, or that something is missing. torn says that the last record's
	// second edge is not whole.
	damaged, torn bool
	// seen are the identities of records by their numbers, as far as an edge of them is whole; whole are those whose
	// body is, too.
	seen  map[uint64]string
	whole map[uint64]bool
}

// scanFile reads a file of this version. It returns false when data is none.
func scanFile(data []byte, found func(body []byte) bool) (*scan, bool) {
	s := &scan{data: data, found: found, seen: map[uint64]string{}, whole: map[uint64]bool{}}
	header := len(data) >= headerBytes && string(data[:len(magic)]) == magic
	at := 0
	if header {
		at, s.end = headerBytes, headerBytes
	}
	for at < len(data) {
		at = s.next(at)
	}
	if !header && len(s.seen) == 0 {
		return nil, false
	}
	s.judge(header)
	return s, true
}

// next reads what stands at an offset and returns the offset to go on from.
func (s *scan) next(at int) int {
	rest := s.data[at:]
	if head, ok := readEdge(rest, headMark); ok {
		s.seen[head.number] = head.key
		body := at + head.size()
		if !s.record(head, body) {
			return body
		}
		return body + head.length
	}
	if tail, ok := readEdge(rest, tailMark); ok {
		s.seen[tail.number] = tail.key
		if s.whole[tail.number] || s.record(tail, at-tail.length) { // the other edge may be damaged
			s.end, s.torn = at+tail.size(), false
		}
		return at + tail.size()
	}
	skip := len(rest)
	for _, mark := range [][]byte{headMark, tailMark} {
		if i := bytes.Index(rest[1:], mark); i >= 0 {
			skip = min(skip, 1+i)
		}
	}
	return at + skip
}

// record takes the record whose body begins at an offset, when it is whole.
func (s *scan) record(e edge, body int) bool {
	if e.number <= s.last || body < 0 || e.length > len(s.data)-body {
		return false
	}
	content := s.data[body : body+e.length]
	if checksum(content) != e.sum {
		return false
	}
	if s.torn || body-e.size() != s.end || !s.headAt(s.end, e) {
		s.damaged = true
	}
	s.last, s.end, s.records = e.number, body+e.length, s.records+1
	s.torn = true // until its second edge is read
	if s.found(content) {
		s.whole[e.number] = true
	} else {
		s.damaged = true
	}
	return true
}

func (s *scan) headAt(at int, e edge) bool {
	if at < 0 {
		return false
	}
	head, ok := readEdge(s.data[at:], headMark)
	return ok && head.number == e.number
}

// judge decides whether what is not whole at the end was acknowledged.
func (s *scan) judge(header bool) {
	synced, ok := uint64(0), false
	if header {
		synced, ok = readSynced(s.data)
	}
	switch {
	case !ok, s.last < synced, s.torn && s.last == synced:
		s.damaged = true
		for number := range s.seen {
			synced = max(synced, number)
		}
		s.last = max(s.last, synced)
	default: // what follows the last whole record has not been acknowledged
		for number := range s.seen {
			if number > s.last {
				delete(s.seen, number)
			}
		}
	}
}

// lost returns the identities of the records that are missing, and the number of those that are missing without a
// trace. Records that a later one of the same object has replaced are not lost.
func (s *scan) lost() (identities []string, unknown, replaced int) {
	latest := map[string]uint64{}
	for number := range s.whole {
		latest[s.seen[number]] = max(latest[s.seen[number]], number)
	}
	gone := map[string]bool{}
	for number, key := range s.seen {
		switch {
		case s.whole[number]:
		case latest[key] > number && identified(key).Kind != Log:
			replaced++
		default:
			gone[key] = true
		}
	}
	for key := range gone {
		identities = append(identities, key)
	}
	slices.Sort(identities)
	return identities, int(s.last) - len(s.seen), replaced
}
