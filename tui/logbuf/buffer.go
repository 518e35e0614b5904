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

// The severities of the deck API, and Process.
const (
	Plain Severity = iota
	Info
	Success
	Error
	// Process is a line that the process of a plugin wrote itself, besides the logs of stages.
	Process
)

// Line is one line of a log.
type Line struct {
	Time     time.Time
	Severity Severity
	Level    Level
	// Text is what is shown and searched; it has no line feed.
	Text string
	// Raw is the line as it came. A buffer takes an empty one for Text.
	Raw string
}

// Limits bound a Buffer. Zero values mean the defaults.
type Limits struct {
	// Memory is how many bytes of text stay in memory; default 4 MiB.
	Memory int
	// Disk is how many bytes go to the temporary file; default 256 MiB.
	Disk int64
	// LineBytes bounds one line; a longer one is cut; default 1 MiB.
	LineBytes int
}

// Buffer is the log of one stage. Lines have numbers from 0 that never change.
type Buffer struct {
	limits Limits

	mu sync.Mutex
	// chunks are in order; the first written of them are in the file.
	chunks  []*chunk
	written int
	// memory is what the chunks in memory take, in bytes.
	memory int
	// first is the number of the oldest line that is kept, next the number of the line to come.
	first, next int
	spill       *os.File
	// head and tail are the places in the file of the oldest chunk and behind the newest.
	head, tail int64
	// spare has the room of a chunk that went to the file, for the next chunk.
	spare chunk
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
		limits.LineBytes = 1 << 20
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
		line.Text, line.Raw = b.cut(line.Text), b.cut(line.Raw)
		last := b.lastChunk()
		before := last.bytes()
		last.add(line)
		b.memory += last.bytes() - before
		b.next++
	}
	b.shrink()
}

// cut bounds a line.
func (b *Buffer) cut(line string) string {
	if len(line) <= b.limits.LineBytes {
		return line
	}
	return strings.ToValidUTF8(line[:b.limits.LineBytes], "")
}

func (b *Buffer) lastChunk() *chunk {
	if n := len(b.chunks); n > 0 && b.chunks[n-1].bytes() < chunkBytes {
		return b.chunks[n-1]
	}
	c := &chunk{start: b.next, text: b.spare.text[:0], raw: b.spare.raw[:0], lines: b.spare.lines[:0]}
	b.spare = chunk{}
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
	var lines []Line
	for _, numbered := range b.Select(from, n, Source) {
		lines = append(lines, numbered.Line)
	}
	return lines
}

// Numbered is a line with its number.
type Numbered struct {
	Number int
	Line
}

// Select returns the lines of at least a level from number from on, at most n.
func (b *Buffer) Select(from, n int, least Level) []Numbered {
	b.mu.Lock()
	defer b.mu.Unlock()
	var lines []Numbered
	for i := max(from, b.first); len(lines) < n; i++ {
		var c *chunk
		if c, i = b.seek(i, least); c == nil {
			break
		}
		lines = append(lines, Numbered{i, c.line(i - c.start)})
	}
	return lines
}

// seek returns the next line of at least a level, from line i on, with its chunk; nil without one.
func (b *Buffer) seek(i int, least Level) (*chunk, int) {
	for at := b.indexOf(i); at < len(b.chunks); at++ {
		c := b.chunks[at]
		i = max(i, c.start)
		if !c.has(least) {
			continue
		}
		if c = b.load(c); c == nil {
			return nil, 0
		}
		for ; i < c.end(); i++ {
			if c.lines[i-c.start].level >= least {
				return c, i
			}
		}
	}
	return nil, 0
}

// Before returns the number of the last line of at least a level before line i.
func (b *Buffer) Before(i int, least Level) (line int, found bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i = min(i, b.next) - 1
	for at := min(b.indexOf(i), len(b.chunks)-1); at >= 0; at-- {
		c := b.chunks[at]
		i = min(i, c.end()-1)
		if !c.has(least) {
			continue
		}
		if c = b.load(c); c == nil {
			return 0, false
		}
		for ; i >= c.start; i-- {
			if c.lines[i-c.start].level >= least {
				return i, true
			}
		}
	}
	return 0, false
}

// Count is how many of the lines kept have at least a level.
func (b *Buffer) Count(least Level) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	count := 0
	for _, c := range b.chunks {
		for _, n := range c.levels[least:] {
			count += n
		}
	}
	return count
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
	b.closed, b.chunks, b.page, b.memory, b.first, b.spare = true, nil, nil, 0, b.next, chunk{}
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
