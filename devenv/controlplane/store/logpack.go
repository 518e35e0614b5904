// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// packBytes is about the size of the blocks that are compressed together, and read back together.
	packBytes = 256 << 10
	// unpackedBytes is what of a log stays as it is: what is most likely read, and what the journal keeps.
	unpackedBytes = 512 << 10
)

// pack is a run of blocks of one log, compressed: lines of logs resemble each other, so that a log of a
// million of them takes a few MiB.
type pack struct {
	count int
	data  []byte
}

func (p pack) size() int { return blockOverhead + len(p.data) }

// packer is used again and again, for one needs much memory. It belongs to the holder of the lock of Deployments.
type packer struct {
	buffer bytes.Buffer
	writer *flate.Writer
}

func (p *packer) pack(blocks []LogBlock) (pack, error) {
	p.buffer.Reset()
	if p.writer == nil {
		writer, err := flate.NewWriter(&p.buffer, flate.BestSpeed)
		if err != nil {
			return pack{}, err
		}
		p.writer = writer
	} else {
		p.writer.Reset(&p.buffer)
	}
	var entry []byte
	for _, b := range blocks {
		entry = binary.AppendVarint(entry[:0], b.Received.UnixNano())
		entry = binary.AppendVarint(entry, int64(b.Attempt))
		entry = binary.AppendUvarint(entry, uint64(proto.Size(b.Block)))
		var err error
		if entry, err = (proto.MarshalOptions{}).MarshalAppend(entry, b.Block); err != nil {
			return pack{}, err
		}
		if _, err := p.writer.Write(entry); err != nil {
			return pack{}, err
		}
	}
	if err := p.writer.Close(); err != nil {
		return pack{}, err
	}
	return pack{count: len(blocks), data: bytes.Clone(p.buffer.Bytes())}, nil
}

// open gives the blocks back. An error means that memory has been damaged.
func (p pack) open() ([]LogBlock, error) {
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(p.data)))
	if err != nil {
		return nil, fmt.Errorf("open the compressed part of a log: %w", err)
	}
	blocks := make([]LogBlock, 0, p.count)
	for len(text) > 0 {
		received, n := binary.Varint(text)
		attempt, m := binary.Varint(text[max(n, 0):])
		length, k := binary.Uvarint(text[max(n, 0)+max(m, 0):])
		if at := n + m + k; n <= 0 || m <= 0 || k <= 0 || uint64(len(text)-at) < length {
			return nil, errors.New("the compressed part of a log is damaged")
		} else {
			text = text[at:]
		}
		block := &model.LogBlock{}
		if err := proto.Unmarshal(text[:length], block); err != nil {
			return nil, fmt.Errorf("open the compressed part of a log: %w", err)
		}
		text = text[length:]
		blocks = append(blocks, LogBlock{Block: block, Received: time.Unix(0, received), Attempt: int32(attempt)})
	}
	return blocks, nil
}
