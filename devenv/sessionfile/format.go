// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sessionfile

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

const (
	// Format is the version that Writer writes. Read takes this one and all before.
	Format = 1

	magic = "pipedeck session\n"

	// chunkBytes is how much a chunk holds, before it is compressed, until Writer begins another one.
	chunkBytes = 256 << 10
	// maxRecordBytes bounds one record: a message of the deck API has at most 64 MiB.
	maxRecordBytes = 64<<20 + 1<<10
	// maxChunkBytes bounds what Read takes for one chunk, compressed or not.
	maxChunkBytes = maxRecordBytes + chunkBytes

	// leastRecord is what a record counts at least for the limits, in bytes: an empty one takes so much memory.
	leastRecord = 128
	// maxTime bounds the times of records. Sums of two times, and products with a speed, are still times.
	maxTime = 10 * 365 * 24 * time.Hour

	// DefaultLimit bounds the records of a session before they are compressed, in bytes; a file has about a tenth.
	DefaultLimit = 256 << 20
)

// A chunk begins with its length and its checksum.
const chunkHeaderBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func chunkHeader(payload []byte) []byte {
	header := binary.BigEndian.AppendUint32(nil, uint32(len(payload))) //nolint:gosec // at most maxChunkBytes
	return binary.BigEndian.AppendUint32(header, crc32.Checksum(payload, castagnoli))
}
