// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

// maxPending bounds what waits to be written, in bytes; a snapshot replaces it.
const maxPending = 64 << 20

// queue holds records that are not written yet. It has no lock: it belongs to the holder of the lock of Journal.
type queue struct {
	// pending are the frames of the records, by their ends.
	pending []byte
	ends    []int
	// incomplete: some were dropped, and only a snapshot helps.
	incomplete bool
	// appended is the number of all records since the start.
	appended uint64
}

// add queues a record and reports whether it is there to be written. A snapshot will hold it otherwise: because the
// queue is full, or because nothing can be written at present.
func (q *queue) add(r *Record, unwritable bool) bool {
	q.appended++
	if q.incomplete {
		return false
	}
	if len(q.pending) > maxPending || unwritable {
		q.drop()
		return false
	}
	q.pending = appendFrame(q.pending, r)
	q.ends = append(q.ends, len(q.pending))
	return true
}

// drop has a snapshot kept in place of what is queued.
func (q *queue) drop() { q.pending, q.ends, q.incomplete = nil, nil, true }

// take empties the queue, which goes on in the memory of another one.
func (q *queue) take(memory []byte) (frames []byte, ends []int) {
	frames, ends = q.pending, q.ends
	q.pending, q.ends = memory[:0], nil
	return frames, ends
}

// forget drops the first n records, which a snapshot holds.
func (q *queue) forget(n int) {
	if n == 0 || n > len(q.ends) {
		return
	}
	cut := q.ends[n-1]
	q.pending = append([]byte(nil), q.pending[cut:]...)
	q.ends = append([]int(nil), q.ends[n:]...)
	for i := range q.ends {
		q.ends[i] -= cut
	}
}
