// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
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

// What a block costs in memory next to its text.
const blockOverhead = 160

func (b LogBlock) size() int { return blockOverhead + len(b.Block.GetLog()) }

// stageLog is the log of one stage: the blocks of all its attempts in the order of arrival, the older ones
// compressed. The position of a block counts from the first one ever, so that it stays when old ones go.
type stageLog struct {
	packs     []pack
	packed    int // blocks in packs
	blocks    []LogBlock
	unpacked  int // bytes of blocks
	dropped   int
	bytes     int // of packs and blocks
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
			l.unpacked += block.size()
		}
	}
	return append([]LogBlock(nil), l.blocks[start:]...)
}

// compress packs the older blocks.
func (l *stageLog) compress(p *packer) {
	for l.unpacked >= unpackedBytes+packBytes {
		n, size := 0, 0
		for size < packBytes {
			size += l.blocks[n].size()
			n++
		}
		packed, err := p.pack(l.blocks[:n])
		if err != nil {
			return // they stay as they are
		}
		l.packs, l.packed = append(l.packs, packed), l.packed+n
		l.blocks = append([]LogBlock(nil), l.blocks[n:]...)
		l.unpacked -= size
		l.bytes += packed.size() - size
	}
}

// end is the position after the last block.
func (l *stageLog) end() int { return l.dropped + l.packed + len(l.blocks) }

// logPart are some blocks that follow each other, as they are kept.
type logPart struct {
	pack   *pack
	skip   int // blocks of pack
	blocks []LogBlock
	next   int // the position after them
}

func (p logPart) open() ([]LogBlock, error) {
	if p.pack == nil {
		return p.blocks, nil
	}
	blocks, err := p.pack.open()
	return blocks[min(p.skip, len(blocks)):], err
}

// from is a part from a position on, or from the first kept block.
func (l *stageLog) from(position, bytes int) logPart {
	at := max(position-l.dropped, 0)
	first := l.dropped
	for i := range l.packs {
		if at < l.packs[i].count {
			return logPart{pack: &l.packs[i], skip: at, next: first + l.packs[i].count}
		}
		at -= l.packs[i].count
		first += l.packs[i].count
	}
	at = min(at, len(l.blocks))
	end := at
	for size := 0; end < len(l.blocks) && size < bytes; end++ {
		size += l.blocks[end].size()
	}
	return logPart{blocks: append([]LogBlock(nil), l.blocks[at:end]...), next: first + end}
}

// newest are the last blocks, of at most that many bytes.
func (l *stageLog) newest(bytes int) []LogBlock {
	take := func(blocks []LogBlock) []LogBlock {
		from := len(blocks)
		for from > 0 && blocks[from-1].size() <= bytes {
			from--
			bytes -= blocks[from].size()
		}
		if from > 0 {
			bytes = 0
		}
		return blocks[from:]
	}
	runs := [][]LogBlock{take(l.blocks)}
	for i := len(l.packs) - 1; i >= 0 && bytes > 0; i-- {
		blocks, err := l.packs[i].open()
		if err != nil {
			break
		}
		runs = append(runs, take(blocks))
	}
	slices.Reverse(runs)
	return slices.Concat(runs...)
}

// shrink drops the oldest blocks until at most limit bytes are left, and returns the bytes freed.
func (l *stageLog) shrink(limit int) int {
	before, packs, n := l.bytes, 0, 0
	for packs < len(l.packs) && l.bytes > limit {
		l.bytes -= l.packs[packs].size()
		l.dropped += l.packs[packs].count
		l.packed -= l.packs[packs].count
		packs++
	}
	for n < len(l.blocks) && l.bytes > limit {
		l.bytes -= l.blocks[n].size()
		l.unpacked -= l.blocks[n].size()
		n++
	}
	if packs == 0 && n == 0 {
		return 0
	}
	// Copies, so that the memory of the dropped ones is given back.
	l.packs = append([]pack(nil), l.packs[packs:]...)
	l.blocks = append([]LogBlock(nil), l.blocks[n:]...)
	l.dropped += n
	l.truncated = true
	return before - l.bytes
}

func (l *stageLog) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}
