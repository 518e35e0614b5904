// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// LogBlock is one entry of a stage log. Shared: do not change Block.
type LogBlock struct {
	Block *model.LogBlock
	// Received is when it arrived here.
	Received time.Time
	// Attempt is the stage's retried_count that it belongs to.
	Attempt int32
}

// What a block costs in memory beside its text.
const blockOverhead = 160

func (b LogBlock) size() int { return blockOverhead + len(b.Block.GetLog()) }

// stageLog is the log of one stage: the blocks of all its attempts in the order of arrival. The
// position of a block counts from the first one ever, so that it stays when old ones go.
type stageLog struct {
	blocks    []LogBlock
	dropped   int
	bytes     int
	truncated bool
	attempts  map[int32]*logAttempt
	// Closed and replaced at every change.
	changed chan struct{}
}

type logAttempt struct {
	seen   indexSet
	sealed bool
}

// Attempts remembered for one stage; a log that has more starts to take repeated blocks twice.
const maxAttempts = 64

func newStageLog() *stageLog {
	return &stageLog{attempts: map[int32]*logAttempt{}, changed: make(chan struct{})}
}

func (l *stageLog) attempt(n int32) *logAttempt {
	a := l.attempts[n]
	if a == nil {
		if len(l.attempts) >= maxAttempts {
			oldest := n
			for k := range l.attempts {
				oldest = min(oldest, k)
			}
			delete(l.attempts, oldest)
		}
		a = &logAttempt{}
		l.attempts[n] = a
	}
	return a
}

// add appends the blocks that are new to the attempt and returns them.
func (l *stageLog) add(attempt int32, blocks []*model.LogBlock, now time.Time) []LogBlock {
	a := l.attempt(attempt)
	start := len(l.blocks)
	for _, b := range blocks {
		if a.seen.add(b.GetIndex()) {
			block := LogBlock{Block: b, Received: now, Attempt: attempt}
			l.blocks = append(l.blocks, block)
			l.bytes += block.size()
		}
	}
	return append([]LogBlock(nil), l.blocks[start:]...)
}

// shrink drops the oldest blocks until at most limit bytes are left, and returns the bytes freed.
func (l *stageLog) shrink(limit int) int {
	freed, n := 0, 0
	for n < len(l.blocks) && l.bytes-freed > limit {
		freed += l.blocks[n].size()
		n++
	}
	if n == 0 {
		return 0
	}
	// A copy, so that the memory of the dropped ones is given back.
	l.blocks = append([]LogBlock(nil), l.blocks[n:]...)
	l.bytes -= freed
	l.dropped += n
	l.truncated = true
	return freed
}

func (l *stageLog) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}
