// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// magic begins the file; its last character is the version of the format. Each record follows as the
// length of its body and the checksum of that, four bytes each, and the body.
const magic = "pipedeck journal 1"

const (
	headBytes = 8
	// maxRecord bounds one record; the control plane takes no larger messages.
	maxRecord = 32 << 20
	// A file is rewritten when it has grown to twice what it was after the last time, and to this.
	smallest = 8 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is an open file. Its methods are called by one goroutine at a time.
type Journal struct {
	path   string
	file   *os.File
	logger *slog.Logger
	size   int64
	// rewriteAt is the size at which Append asks for a Rewrite.
	rewriteAt int64
	broken    bool
	buffer    []byte
}

// Open opens the file, or makes it, and hands each record of it to found, in their order; what found keeps
// of a record it has to copy. It fails when the file cannot be read or made. The caller closes it.
func Open(path string, logger *slog.Logger, found func(Record)) (*Journal, error) {
	j := &Journal{path: path, logger: logger}
	if err := j.open(found); err != nil {
		if j.file != nil {
			err = errors.Join(err, j.file.Close())
		}
		return nil, fmt.Errorf("open the kept state of the control plane: %w", err)
	}
	return j, nil
}

func (j *Journal) open(found func(Record)) (err error) {
	if err := os.Remove(j.path + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if err := j.file.Chmod(0o600); err != nil {
		return err
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return j.begin()
	}
	reader := bufio.NewReaderSize(j.file, 1<<20)
	if whole := j.readMagic(reader); !whole {
		return j.moveAside()
	}
	j.size = int64(len(magic))
	for {
		body, err := readRecord(reader)
		if err != nil {
			break // the end, or what was not written whole
		}
		r, err := decode(body)
		if err != nil {
			break
		}
		j.size += headBytes + int64(len(body))
		found(r)
	}
	if left := info.Size() - j.size; left > 0 {
		j.logger.Warn("the end of the kept state is not whole and is cut off", "file", j.path, "bytes", left)
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	j.rewriteAt = max(smallest, j.size/2*3)
	_, err = j.file.Seek(j.size, io.SeekStart)
	return err
}

func (j *Journal) readMagic(r io.Reader) bool {
	head := make([]byte, len(magic))
	_, err := io.ReadFull(r, head)
	return err == nil && string(head) == magic
}

// moveAside begins anew beside a file of another version.
func (j *Journal) moveAside() error {
	aside := j.path + ".unknown"
	j.logger.Warn("the kept state was written by another version of pipedeck and is moved aside", "to", aside)
	if err := errors.Join(j.file.Close(), os.Rename(j.path, aside)); err != nil {
		return err
	}
	var err error
	if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	return j.begin()
}

func (j *Journal) begin() error {
	_, err := j.file.WriteString(magic)
	j.size, j.rewriteAt = int64(len(magic)), smallest
	return err
}

func readRecord(r io.Reader) ([]byte, error) {
	var head [headBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxRecord {
		return nil, errMalformed
	}
	body := make([]byte, 0, min(int(length), 64<<10)) // grows as far as there are bytes
	for len(body) < int(length) {
		part := min(int(length)-len(body), 1<<20)
		at := len(body)
		body = append(body, make([]byte, part)...)
		if _, err := io.ReadFull(r, body[at:]); err != nil {
			return nil, err
		}
	}
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return nil, errMalformed
	}
	return body, nil
}

// Append adds a record. It returns true when the file has grown so much that it should be rewritten.
func (j *Journal) Append(r Record) (large bool) {
	if j.broken {
		return false
	}
	j.buffer = frame(j.buffer[:0], &r)
	if len(j.buffer)-headBytes > maxRecord {
		j.logger.Warn("an object is too large to be kept", "kind", r.Kind, "id", r.ID, "bytes", len(j.buffer))
		return false
	}
	if _, err := j.file.Write(j.buffer); err != nil {
		j.fail(err)
		return false
	}
	j.size += int64(len(j.buffer))
	if cap(j.buffer) > 1<<20 {
		j.buffer = nil
	}
	return j.size >= j.rewriteAt
}

// frame appends a record with its head.
func frame(b []byte, r *Record) []byte {
	start := len(b)
	b = r.encode(append(b, make([]byte, headBytes)...))
	body := b[start+headBytes:]
	binary.BigEndian.PutUint32(b[start:], uint32(len(body)))
	binary.BigEndian.PutUint32(b[start+4:], crc32.Checksum(body, castagnoli))
	return b
}

// fail stops keeping: records after a gap would tell a false story.
func (j *Journal) fail(err error) {
	j.broken = true
	j.logger.Error("the state of the control plane is not kept any more: after a restart it is as it was until now", "file", j.path, "error", err)
	// What was written of the last record would be cut off anyway.
	_ = j.file.Truncate(j.size)
}

// Rewrite replaces all records by those that all emits.
func (j *Journal) Rewrite(all func(emit func(Record))) {
	if j.broken {
		return
	}
	if err := j.rewrite(all); err != nil {
		j.fail(errors.Join(err, os.Remove(j.path+".new")))
	}
}

func (j *Journal) rewrite(all func(emit func(Record))) (err error) {
	next, err := os.OpenFile(j.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			next.Close()
		}
	}()
	writer := bufio.NewWriterSize(next, 1<<20)
	size := int64(len(magic))
	_, err = writer.WriteString(magic)
	all(func(r Record) {
		if err != nil {
			return
		}
		j.buffer = frame(j.buffer[:0], &r)
		if len(j.buffer)-headBytes <= maxRecord {
			size += int64(len(j.buffer))
			_, err = writer.Write(j.buffer)
		}
	})
	if err = errors.Join(err, writer.Flush()); err != nil {
		return err
	}
	if err = next.Sync(); err != nil {
		return err
	}
	if err = os.Rename(next.Name(), j.path); err != nil {
		return err
	}
	before := j.file
	j.file, j.size, j.rewriteAt = next, size, max(smallest, 2*size)
	before.Close()
	return syncDir(filepath.Dir(j.path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Size is that of the file in bytes.
func (j *Journal) Size() int64 { return j.size }

// Close brings everything to the disk.
func (j *Journal) Close() error {
	return errors.Join(j.file.Sync(), j.file.Close())
}
