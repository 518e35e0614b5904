// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package logbuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"time"
)

// chunk is a run of lines, in memory or in the file.
type chunk struct {
	// start is the number of its first line.
	start int
	lines []Line
	// bytes is the size in memory.
	bytes int
	// count, offset and length say where it is in the file; length 0 means memory.
	count  int
	offset int64
	length int64
}

func (c *chunk) end() int {
	if c.length > 0 {
		return c.start + c.count
	}
	return c.start + len(c.lines)
}

// shrink brings the buffer back within its limits.
func (b *Buffer) shrink() {
	for i := 0; b.memory > b.limits.Memory && i < len(b.chunks)-1; i++ {
		c := b.chunks[i]
		if c.length > 0 {
			continue
		}
		freed := c.bytes
		if b.err == nil {
			b.err = b.write(c)
		}
		if b.err != nil {
			// No disk: the oldest lines go.
			b.dropOldest(i + 1)
			i = -1
		}
		b.memory -= freed
	}
	for len(b.chunks) > 1 && b.chunks[0].length > 0 && b.tail-b.head > b.limits.Disk {
		b.dropOldest(1)
	}
}

func (b *Buffer) dropOldest(n int) {
	b.chunks = append([]*chunk(nil), b.chunks[n:]...)
	b.first = b.chunks[0].start
	if b.chunks[0].length > 0 {
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
	data := encode(c.lines)
	// The file is used as a ring: dropped chunks at its start make room again.
	offset := b.tail % b.ring()
	if offset+int64(len(data)) > b.ring() {
		b.tail += b.ring() - offset
		offset = 0
	}
	if _, err := b.spill.WriteAt(data, offset); err != nil {
		return fmt.Errorf("keep older log lines in %s: %w", b.spill.Name(), err)
	}
	c.count, c.offset, c.length = len(c.lines), b.tail, int64(len(data))
	b.tail += c.length
	c.lines, c.bytes = nil, 0
	return nil
}

// ring is the size of the file: the bound, and room for the chunk that is written before the oldest goes.
func (b *Buffer) ring() int64 {
	return b.limits.Disk + 4*chunkBytes + 2*int64(b.limits.LineBytes)
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

// chunkOf returns the chunk with line i, its lines in memory; nil when it cannot be read.
func (b *Buffer) chunkOf(i int) *chunk {
	at := sort.Search(len(b.chunks), func(k int) bool { return b.chunks[k].end() > i })
	if at == len(b.chunks) {
		return nil
	}
	c := b.chunks[at]
	if c.length == 0 {
		return c
	}
	if b.page != nil && b.page.start == c.start {
		return b.page
	}
	data := make([]byte, c.length)
	if _, err := b.spill.ReadAt(data, c.offset%b.ring()); err != nil {
		b.err = errors.Join(b.err, fmt.Errorf("read older log lines: %w", err))
		return nil
	}
	b.page = &chunk{start: c.start, lines: decode(data, c.count)}
	return b.page
}

// encode writes time, severity, length and text of each line.
func encode(lines []Line) []byte {
	var data []byte
	for _, line := range lines {
		var nanos int64
		if !line.Time.IsZero() {
			nanos = line.Time.UnixNano()
		}
		data = binary.AppendVarint(data, nanos)
		data = append(data, byte(line.Severity))
		data = binary.AppendUvarint(data, uint64(len(line.Text)))
		data = append(data, line.Text...)
	}
	return data
}

func decode(data []byte, count int) []Line {
	lines := make([]Line, 0, count)
	for range count {
		nanos, n := binary.Varint(data)
		data = data[n:]
		severity := Severity(data[0])
		size, n := binary.Uvarint(data[1:])
		data = data[1+n:]
		line := Line{Severity: severity, Text: string(data[:size])}
		if nanos != 0 {
			line.Time = time.Unix(0, nanos)
		}
		lines = append(lines, line)
		data = data[size:]
	}
	return lines
}
