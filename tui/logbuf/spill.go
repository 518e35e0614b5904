// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"errors"
	"fmt"
	"os"
	"sort"
)

// shrink brings the buffer back within its limits.
func (b *Buffer) shrink() {
	for b.memory > b.limits.Memory && b.written < len(b.chunks)-1 {
		c := b.chunks[b.written]
		freed := c.bytes()
		if b.err == nil {
			b.err = b.write(c)
		}
		if b.err != nil {
			b.dropOldest(b.written + 1) // no disk: the oldest lines go
		} else {
			b.written++
		}
		b.memory -= freed
	}
	for b.written > 0 && b.tail-b.head > b.limits.Disk {
		b.dropOldest(1)
	}
}

func (b *Buffer) dropOldest(n int) {
	b.chunks = append([]*chunk(nil), b.chunks[n:]...)
	b.written = max(0, b.written-n)
	b.first = b.chunks[0].start
	if b.written > 0 {
		b.head = b.chunks[0].offset
	}
	b.page = nil
}

// write moves a chunk to the file.
func (b *Buffer) write(c *chunk) error {
	if b.spill == nil {
		file, err := createSpill()
		if err != nil {
			return err
		}
		b.spill = file
	}
	data := c.encode()
	// The file is used as a ring: dropped chunks at its start make room again.
	offset := b.tail % b.ring()
	if offset+int64(len(data)) > b.ring() {
		b.tail += b.ring() - offset
		offset = 0
	}
	if _, err := b.spill.WriteAt(data, offset); err != nil {
		return fmt.Errorf("keep older log lines in %s: %w", b.spill.Name(), err)
	}
	c.offset, c.length, c.textLength = b.tail, int64(len(data)), int64(len(c.text))
	b.tail += c.length
	if cap(c.text)+cap(c.raw) <= 4*chunkBytes { // else it had lines of unusual length
		b.spare = chunk{text: c.text, raw: c.raw, lines: c.lines}
	}
	c.text, c.raw, c.lines = nil, nil, nil
	return nil
}

// ring is the size of the file: the bound, and room for the chunk that is written before the oldest goes. A line
// stands twice in a chunk when it is not what came.
func (b *Buffer) ring() int64 {
	return b.limits.Disk + 8*chunkBytes + 4*int64(b.limits.LineBytes)
}

// createSpill opens a file that only this process can reach.
func createSpill() (*os.File, error) {
	file, err := os.CreateTemp("", "pipedeck-log-*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file for older log lines: %w", err)
	}
	// Unlinked at once: it is gone with the process, however that ends.
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlink temporary log file: %w", err), file.Close())
	}
	return file, nil
}

// indexOf is the place of the chunk with line i; len(b.chunks) without one.
func (b *Buffer) indexOf(i int) int {
	return sort.Search(len(b.chunks), func(k int) bool { return b.chunks[k].end() > i })
}

// load returns c with its lines in memory; nil when it cannot be read.
func (b *Buffer) load(c *chunk) *chunk {
	if c.length == 0 {
		return c
	}
	if b.page != nil && b.page.start == c.start {
		return b.page
	}
	data := make([]byte, c.length)
	if !b.read(c, data) {
		return nil
	}
	page := &chunk{start: c.start, count: c.count, levels: c.levels}
	page.decode(data, c.textLength)
	b.page = page
	return page
}

// read fills data with the start of a chunk in the file; it reports whether it could.
func (b *Buffer) read(c *chunk, data []byte) bool {
	_, err := b.spill.ReadAt(data, c.offset%b.ring())
	if err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("read older log lines: %w", err))
	}
	return err == nil
}
