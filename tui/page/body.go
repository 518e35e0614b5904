// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

// body is the JSON of an event. It is encoded and compressed once, for all streams.
type body struct {
	plain []byte
	once  sync.Once
	// packed are blocks of the deflate format that stand by themselves, up to a byte boundary.
	packed []byte
}

// packFrom is the size from which compressing is worth its time, in bytes.
const packFrom = 1 << 10

func newBody(event any) *body {
	encoded, err := json.Marshal(event)
	if err != nil { // numbers that JSON does not have were replaced before
		encoded, _ = json.Marshal(End{Reason: fmt.Sprintf("pipedeck cannot write the event: %v", err)})
	}
	return &body{plain: encoded}
}

// pack returns the compressed form; nil where it is not worth it.
func (b *body) pack() []byte {
	if len(b.plain) < packFrom {
		return nil
	}
	b.once.Do(func() {
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.BestSpeed)
		if err != nil {
			return // the level is one of those that there are
		}
		_, _ = w.Write(b.plain) // into memory, where nothing fails
		_ = w.Flush()
		b.packed = out.Bytes()
	})
	return b.packed
}

// frames writes events to one stream, in the format gzip where the watcher takes it. Its own parts are stored, and what
// all streams get is compressed once: so that a stream at rest holds no compressor.
type frames struct {
	to     io.Writer
	packed bool
	buffer bytes.Buffer
	sum    uint32
	size   uint32
}

// gzipHead begins a gzip file without a name and a time.
var gzipHead = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

func newFrames(to io.Writer, packed bool) *frames {
	f := &frames{to: to, packed: packed}
	if packed {
		f.buffer.Write(gzipHead)
	}
	return f
}

// event adds an event; an id is left out when it is empty.
func (f *frames) event(kind, id string, b *body) {
	head := "event: " + kind + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	f.text(head + "data: ")
	if packed := b.pack(); f.packed && packed != nil {
		f.count(b.plain)
		f.buffer.Write(packed)
	} else {
		f.text(string(b.plain))
	}
	f.text("\n\n")
}

// comment adds what a browser ignores.
func (f *frames) comment() { f.text(":\n\n") }

const maxStored = 1<<16 - 1

func (f *frames) text(s string) {
	if !f.packed {
		f.buffer.WriteString(s)
		return
	}
	f.count([]byte(s))
	for len(s) > 0 {
		part := s[:min(len(s), maxStored)]
		s = s[len(part):]
		f.stored(0, part)
	}
}

// stored adds a block of the deflate format that is not compressed.
func (f *frames) stored(final byte, part string) {
	f.buffer.WriteByte(final)
	f.buffer.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(part))))
	f.buffer.Write(binary.LittleEndian.AppendUint16(nil, ^uint16(len(part))))
	f.buffer.WriteString(part)
}

func (f *frames) count(b []byte) {
	f.sum = crc32.Update(f.sum, crc32.IEEETable, b)
	f.size += uint32(len(b))
}

// empty reports whether nothing waits to be sent.
func (f *frames) empty() bool { return f.buffer.Len() == 0 }

// send writes what was added. An empty block has readers pass on what is before it.
func (f *frames) send() error {
	if f.packed {
		f.stored(0, "")
	}
	_, err := f.to.Write(f.buffer.Bytes())
	f.buffer.Reset()
	return err
}

// close ends the file.
func (f *frames) close() error {
	if f.packed {
		f.stored(1, "")
		f.buffer.Write(binary.LittleEndian.AppendUint32(nil, f.sum))
		f.buffer.Write(binary.LittleEndian.AppendUint32(nil, f.size))
	}
	_, err := f.to.Write(f.buffer.Bytes())
	return err
}
