// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sessionfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ErrLimit says that a session has as many records as its file may hold.
var ErrLimit = errors.New("the recorded session is as long as it may be")

// WriteError is that of a file that takes no more, such as on a full disk.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// File is what Writer writes to, such as an *os.File.
type File interface {
	io.Writer
	// Truncate takes a chunk away that could not be written whole.
	Truncate(size int64) error
}

// Writer writes one session. It is used by one goroutine.
type Writer struct {
	file  File
	limit int64
	// size is that of the chunks that were written, taken that of all records before they are compressed.
	size, taken int64
	last        time.Duration
	pending     bytes.Buffer
	// broken is the first error of the file, a *WriteError. Nothing is written after it.
	broken error
}

// NewWriter begins a session in an empty file, of which it does not take ownership. limit bounds the records in bytes
// before they are compressed; 0 is DefaultLimit. The header gets the version of the format.
func NewWriter(file File, header *deckv1.SessionHeader, limit int64) (*Writer, error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	w := &Writer{file: file, limit: limit}
	if err := w.write([]byte(magic)); err != nil {
		return nil, err
	}
	header = proto.CloneOf(header)
	header.Format = Format
	if err := w.Add(0, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Header{Header: header}}); err != nil {
		return nil, err
	}
	return w, w.Flush()
}

// Add adds a record, which gets the time since the beginning of the session; a time before that of the record before
// counts as that. It returns ErrLimit when the session is full: End can be added even then.
func (w *Writer) Add(at time.Duration, record *deckv1.SessionRecord) error {
	if w.broken != nil {
		return w.broken
	}
	w.last = min(max(w.last, at), maxTime)
	record.At = durationpb.New(w.last)
	size := max(int64(proto.Size(record)), leastRecord)
	if record.GetEnd() == nil && w.taken+size > w.limit {
		return ErrLimit
	}
	if _, err := protodelim.MarshalTo(&w.pending, record); err != nil {
		return fmt.Errorf("encode a record of the session: %w", err)
	}
	w.taken += size
	if w.pending.Len() >= chunkBytes {
		return w.Flush()
	}
	return nil
}

// Flush writes what was added to the file.
func (w *Writer) Flush() error {
	if w.broken != nil || w.pending.Len() == 0 {
		return w.broken
	}
	var packed bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := compressed.Write(w.pending.Bytes()); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	w.pending.Reset()
	return w.write(append(chunkHeader(packed.Bytes()), packed.Bytes()...))
}

// End ends the session with the reason why it is not complete, or an empty one, and writes what was added.
func (w *Writer) End(at time.Duration, reason string) error {
	record := &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_End{End: &deckv1.SessionEnd{Reason: reason}}}
	if err := w.Add(at, record); err != nil {
		return err
	}
	return w.Flush()
}

// write brings a chunk to the file, or leaves the file as it was.
func (w *Writer) write(chunk []byte) error {
	if _, err := w.file.Write(chunk); err != nil {
		w.broken = &WriteError{Err: err}
		return errors.Join(w.broken, w.file.Truncate(w.size))
	}
	w.size += int64(len(chunk))
	return nil
}
