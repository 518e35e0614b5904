// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Severity of a line.
type Severity uint8

// The severities of the deck API.
const (
	Plain Severity = iota
	Info
	Success
	Error
)

// Line is one line of a log.
type Line struct {
	Time     time.Time
	Severity Severity
	Text     string
}

// Limits bound a Buffer. Zero values mean the defaults.
type Limits struct {
	// Memory is how many bytes of text stay in memory; default 4 MiB.
	Memory int
	// Disk is how many bytes go to the temporary file; default 256 MiB.
	Disk int64
	// LineBytes bounds one line; a longer one is cut; default 64 KiB.
	LineBytes int
}

// Buffer is the log of one stage. Lines have numbers from 0 that never change.
type Buffer struct {
	limits Limits

	mu     sync.Mutex
	chunks []*chunk
	// memory is the bytes of text in the chunks that are in memory.
	memory int
	// first is the number of the oldest line that is kept, next the number of the line to come.
	first, next int
	spill       *os.File
	// head and tail are the places in the file of the oldest chunk and behind the newest.
	head, tail int64
	// page is the chunk of the file that was read last.
	page   *chunk
	err    error
	closed bool
}

// chunkBytes is how much text moves to disk at once and is read back at once.
const chunkBytes = 64 << 10

// New returns an empty buffer. Close releases what it holds.
func New(limits Limits) *Buffer {
	if limits.Memory <= 0 {
		limits.Memory = 4 << 20
	}
	if limits.Disk <= 0 {
		limits.Disk = 256 << 20
	}
	if limits.LineBytes <= 0 {
		limits.LineBytes = 64 << 10
	}
	return &Buffer{limits: limits}
}

// Append adds lines at the end. After Close it does nothing.
func (b *Buffer) Append(lines ...Line) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for _, line := range lines {
		if len(line.Text) > b.limits.LineBytes {
			line.Text = strings.ToValidUTF8(line.Text[:b.limits.LineBytes], "")
		}
		last := b.lastChunk()
		last.lines = append(last.lines, line)
		size := len(line.Text) + lineOverhead
		last.bytes += size
		b.memory += size
		b.next++
		b.shrink()
	}
}

// lineOverhead stands for what a line costs next to its text, so that many empty lines are bounded too.
const lineOverhead = 48

func (b *Buffer) lastChunk() *chunk {
	if n := len(b.chunks); n > 0 && b.chunks[n-1].bytes < chunkBytes {
		return b.chunks[n-1]
	}
	c := &chunk{start: b.next}
	b.chunks = append(b.chunks, c)
	return c
}

// Span returns the number of the oldest line kept and of the line to come: lines [first, next) can be read.
func (b *Buffer) Span() (first, next int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first, b.next
}

// Lines returns the lines from number from on, at most n; fewer at the ends of the log.
func (b *Buffer) Lines(from, n int) []Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	from = max(from, b.first)
	to := min(from+n, b.next)
	var lines []Line
	for i := from; i < to; {
		c := b.chunkOf(i)
		if c == nil {
			return lines
		}
		for ; i < to && i < c.start+len(c.lines); i++ {
			lines = append(lines, c.lines[i-c.start])
		}
	}
	return lines
}

// Memory is how many bytes the lines in memory take.
func (b *Buffer) Memory() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.memory
}

// Err is the first failure of the temporary file; nil when there was none.
func (b *Buffer) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Close drops everything and removes the temporary file.
func (b *Buffer) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed, b.chunks, b.page, b.memory, b.first = true, nil, nil, 0, b.next
	if b.spill == nil {
		return nil
	}
	spill := b.spill
	b.spill = nil
	// The file has no name any more where unlinking an open file is possible, so this is all.
	if err := spill.Close(); err != nil {
		return fmt.Errorf("close temporary log file: %w", err)
	}
	return nil
}
