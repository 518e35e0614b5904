// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A file begins with its header: the version and the number of the last record that was on the disk when the header
// was written. Each record follows as a frame: an edge, the body, the same edge with another mark.
const (
	magic       = "pipedeck journal 2\n"
	headerBytes = len(magic) + 8 + 4
	// An edge is the mark, the record's number, the length and the checksum of the body, the length of the key, the key
	// and the checksum of the edge.
	edgeBytes = 4 + 8 + 4 + 4 + 2 + 4
	maxKey    = 512
)

// The marks are not UTF-8, so that no text of a record holds one.
var (
	headMark = []byte{0xff, 'P', 'D', 0xfe}
	tailMark = []byte{0xfe, 'D', 'P', 0xff}
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// appendHeader appends a header that says that all records up to a number are on the disk.
func appendHeader(b []byte, synced uint64) []byte {
	return appendSynced(append(b, magic...), synced)
}

func appendSynced(b []byte, synced uint64) []byte {
	b = binary.BigEndian.AppendUint64(b, synced)
	return binary.BigEndian.AppendUint32(b, checksum(b[len(b)-8:]))
}

// readSynced returns the number in a header, and whether it is undamaged.
func readSynced(header []byte) (synced uint64, ok bool) {
	number := header[len(magic) : len(magic)+8]
	return binary.BigEndian.Uint64(number), checksum(number) == binary.BigEndian.Uint32(header[len(magic)+8:])
}

// appendFrame appends a record. The frame is not complete until seal numbers it.
func appendFrame(b []byte, r *Record) []byte {
	key := r.identity()
	start := len(b)
	b = append(b, make([]byte, edgeBytes+len(key))...)
	b = r.encode(b)
	body := b[start+edgeBytes+len(key):]
	length, sum := len(body), checksum(body)
	tail := len(b)
	b = append(b, make([]byte, edgeBytes+len(key))...)
	for at, mark := range map[int][]byte{start: headMark, tail: tailMark} {
		edge := b[at:]
		copy(edge, mark)
		binary.BigEndian.PutUint32(edge[12:], uint32(length))
		binary.BigEndian.PutUint32(edge[16:], sum)
		binary.BigEndian.PutUint16(edge[20:], uint16(len(key)))
		copy(edge[22:], key)
	}
	return b
}

// seal numbers one whole frame.
func seal(frame []byte, number uint64) {
	size := edgeBytes + int(binary.BigEndian.Uint16(frame[20:]))
	for _, edge := range [][]byte{frame[:size], frame[len(frame)-size:]} {
		binary.BigEndian.PutUint64(edge[4:], number)
		binary.BigEndian.PutUint32(edge[size-4:], checksum(edge[:size-4]))
	}
}

// edge is what stands at both ends of a frame.
type edge struct {
	number uint64
	length int
	sum    uint32
	key    string
}

func (e edge) size() int { return edgeBytes + len(e.key) }

// readEdge reads the edge that data begins with.
func readEdge(data, mark []byte) (e edge, ok bool) {
	if len(data) < edgeBytes || !bytes.HasPrefix(data, mark) {
		return edge{}, false
	}
	size := edgeBytes + int(binary.BigEndian.Uint16(data[20:]))
	if size > len(data) || checksum(data[:size-4]) != binary.BigEndian.Uint32(data[size-4:]) {
		return edge{}, false
	}
	return edge{
		number: binary.BigEndian.Uint64(data[4:]), length: int(binary.BigEndian.Uint32(data[12:])),
		sum: binary.BigEndian.Uint32(data[16:]), key: string(data[22 : size-4]),
	}, true
}

// identity is the kind and the names of the record's object, as far as they fit.
func (r *Record) identity() string {
	names := []string{r.ID}
	switch r.Kind {
	case Log:
		names = append(names, r.Name)
	case Object:
		names = append(names, r.Name, r.Key)
	}
	key := string([]byte{byte(r.Kind)}) + strings.Join(names, "\x00")
	return key[:min(len(key), maxKey)]
}

// identified is the record without its content that has the identity.
func identified(key string) Record {
	if key == "" {
		return Record{}
	}
	parts := append(strings.SplitN(key[1:], "\x00", 3), "", "")
	return Record{Kind: Kind(key[0]), ID: parts[0], Name: parts[1], Key: parts[2]}
}
