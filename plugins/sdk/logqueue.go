// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// maxQueueBytes bounds what waits to be sent; a writer waits when it is full.
	maxQueueBytes = 4 << 20
	// maxBatchBytes bounds the new blocks of one message.
	maxBatchBytes = 512 << 10
	// crowdEntries is how many entries wait before others are joined.
	crowdEntries = 256
	// blockOverhead is added to a block's text as its size in a message, rounded up.
	blockOverhead = 32
)

// entry is a piece of log that waits to be sent.
type entry struct {
	severity  model.LogSeverity
	text      []byte
	createdAt int64
	// joinable entries that follow each other become one block while they wait.
	joinable bool
	// sequence is the number of the entry, or of the last one that was joined to it.
	sequence int64
	// writer is the number of the LineWriter that the text comes from, 0 for none.
	writer int64
}

func (e entry) size() int { return len(e.text) + blockOverhead }

// logQueue holds the entries of the log of one stage that wait to be sent. Any goroutine may push; one takes.
type logQueue struct {
	records *logRecords // nil without a journal
	now     func() time.Time

	mu      sync.Mutex
	change  sync.Cond // something was queued or taken, or the queue was closed or abandoned
	entries []entry
	bytes   int
	closed  bool
	// abandoned is set when no one takes entries any more; writers must not wait then.
	abandoned bool
	lost      int // entries that piped did not take
	// sequence is the number of the last entry, writers the number of LineWriters.
	sequence, writers int64
}

func newLogQueue(records *logRecords, now func() time.Time) *logQueue {
	q := &logQueue{records: records, now: now}
	q.change.L = &q.mu
	return q
}

// push queues an entry; it waits while the queue is full, and drops the entry when the queue is abandoned or closed.
func (q *logQueue) push(e entry) {
	e.createdAt = q.now().Unix()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > 0 && q.bytes+e.size() > maxQueueBytes && !q.abandoned {
		q.change.Wait()
	}
	if q.closed || q.abandoned {
		q.lost++
		return
	}
	q.sequence++
	e.sequence = q.sequence
	q.records.entry(e)
	switch last := len(q.entries) - 1; {
	case last >= 0 && joins(q.entries[last], e):
		q.entries[last].text = append(q.entries[last].text, e.text...)
		q.entries[last].sequence = e.sequence
		q.bytes += len(e.text)
	case q.crowd(e):
	default:
		q.entries = append(q.entries, e)
		q.bytes += e.size()
	}
	q.change.Broadcast()
}

// lineStarted has piped know the start of a line that has not ended.
func (q *logQueue) lineStarted(writer int64, text []byte) {
	q.records.lineStart(writer, text, q.now().Unix())
}

// newWriter numbers a LineWriter.
func (q *logQueue) newWriter() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writers++
	return q.writers
}

// joins is whether b may become part of a: whole lines of output of the same second.
func joins(a, b entry) bool {
	return a.joinable && b.joinable && a.severity == b.severity && a.createdAt == b.createdAt &&
		len(a.text)+len(b.text) <= maxBlockBytes && a.text[len(a.text)-1] == '\n'
}

// crowd joins entries that are written by the thousand: a block for each costs piped and the control plane much
// more than its line. The text shown is the same.
func (q *logQueue) crowd(b entry) bool {
	if len(q.entries) < crowdEntries || b.joinable {
		return false
	}
	a := &q.entries[len(q.entries)-1]
	if a.joinable || a.severity != b.severity || a.createdAt != b.createdAt ||
		len(a.text)+1+len(b.text) > maxBlockBytes {
		return false
	}
	before := len(a.text)
	if a.text[before-1] != '\n' {
		a.text = append(a.text, '\n')
	}
	a.text = append(a.text, b.text...)
	a.sequence = b.sequence
	q.bytes += len(a.text) - before
	return true
}

// take waits for entries and removes as many as fit into a message. last is true when there will be no more. An
// abandoned queue has none.
func (q *logQueue) take() (batch []entry, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.entries) == 0 && !q.closed && !q.abandoned {
		q.change.Wait()
	}
	n, bytes := 0, 0
	for n < len(q.entries) && (n == 0 || bytes+q.entries[n].size() <= maxBatchBytes) {
		bytes += q.entries[n].size()
		n++
	}
	batch, q.entries = q.entries[:n:n], q.entries[n:]
	if len(q.entries) == 0 {
		q.entries = nil // lets the array go
	}
	q.bytes -= bytes
	q.change.Broadcast()
	return batch, q.closed && len(q.entries) == 0
}

// close refuses more entries; those that wait can still be taken.
func (q *logQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}

// lose counts entries that were taken and did not get to piped.
func (q *logQueue) lose(entries int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lost += entries
}

// losses is the number of entries that piped did not take.
func (q *logQueue) losses() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}

// abandon forgets what is queued, and lets the writers go on.
func (q *logQueue) abandon() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.abandoned = true
	q.lost += len(q.entries)
	q.entries, q.bytes = nil, 0
	q.change.Broadcast()
}
