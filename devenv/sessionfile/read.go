// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sessionfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Session is what a file holds.
type Session struct {
	Header *deckv1.SessionHeader
	// Records follow the header, in the order of their times.
	Records []*deckv1.SessionRecord
	// Missing is why the session may not be complete, as a clause; empty when it ends as it was recorded.
	Missing string
}

// Duration is the time of the last record.
func (s *Session) Duration() time.Duration {
	if len(s.Records) == 0 {
		return 0
	}
	return s.Records[len(s.Records)-1].GetAt().AsDuration()
}

// ErrNoSession says that a file holds something else than a recorded session.
var ErrNoSession = errors.New("is not a recorded session")

// NewerError says that a session was recorded by a newer program, in a format that this one does not know.
type NewerError struct {
	Format int32
	// Version is that of the program.
	Version string
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("was recorded by pipedeck %s in format %d; this program reads formats up to %d", e.Version,
		e.Format, Format)
}

// errTorn says that the file ends within a chunk, as after a crash of the recording program.
var errTorn = errors.New("the file ends in the middle of a record")

// errLong says that Read takes no more.
var errLong = errors.New("the session is longer than this program reads")

// Read reads a session as far as it goes: damage after the header is in Missing. limit bounds the records in bytes
// before they were compressed; 0 is twice DefaultLimit. The error is ErrNoSession or a *NewerError, or that of r.
func Read(r io.Reader, limit int64) (*Session, error) {
	if limit <= 0 {
		limit = 2 * DefaultLimit
	}
	in := bufio.NewReaderSize(r, 32<<10)
	line := make([]byte, len(magic))
	if _, err := io.ReadFull(in, line); err != nil || string(line) != magic {
		return nil, ErrNoSession
	}
	s := &Session{}
	ended := false
	for !ended {
		chunk, err := readChunk(in)
		if errors.Is(err, io.EOF) {
			break
		}
		var taken int64
		if err == nil {
			taken, ended, err = s.take(chunk, limit)
			limit -= taken
		}
		if newer := (*NewerError)(nil); errors.As(err, &newer) {
			return nil, newer
		}
		if err != nil && s.Header == nil {
			return nil, ErrNoSession
		}
		if err != nil {
			s.Missing = err.Error()
			return s, nil
		}
	}
	switch {
	case s.Header == nil:
		return nil, ErrNoSession
	case !ended:
		s.Missing = "the recording was not ended in order"
	}
	return s, nil
}

// readChunk returns the compressed records of the next chunk; io.EOF at the end of the file.
func readChunk(in io.Reader) ([]byte, error) {
	header := make([]byte, chunkHeaderBytes)
	switch _, err := io.ReadFull(in, header); {
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errTorn
	case err != nil:
		return nil, fmt.Errorf("read the session: %w", err)
	}
	length, sum := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
	if length > maxChunkBytes {
		return nil, errors.New("the file is damaged")
	}
	// The length may be wrong: memory is taken only for bytes that are there.
	var chunk bytes.Buffer
	n, err := io.CopyN(&chunk, in, int64(length))
	switch {
	case errors.Is(err, io.EOF) && n < int64(length):
		return nil, errTorn
	case err != nil:
		return nil, fmt.Errorf("read the session: %w", err)
	case crc32.Checksum(chunk.Bytes(), castagnoli) != sum:
		return nil, errors.New("the file is damaged")
	}
	return chunk.Bytes(), nil
}

// take adds the records of a chunk; taken is their size. ended reports whether the last one is the end of the session.
func (s *Session) take(chunk []byte, limit int64) (taken int64, ended bool, err error) {
	packed, err := gzip.NewReader(bytes.NewReader(chunk))
	if err != nil {
		return 0, false, errors.New("the file is damaged")
	}
	bounded := &io.LimitedReader{R: packed, N: min(limit, maxChunkBytes)}
	whole := bounded.N
	in := bufio.NewReader(bounded)
	for records := int64(0); ; records++ {
		if records*leastRecord > limit { // empty ones take memory, too
			return whole, false, errLong
		}
		record := &deckv1.SessionRecord{}
		err := protodelim.UnmarshalOptions{MaxSize: maxRecordBytes}.UnmarshalFrom(in, record)
		switch {
		case err != nil && bounded.N == 0:
			return whole, false, errLong
		case errors.Is(err, io.EOF):
			return max(whole-bounded.N, records*leastRecord), false, nil
		case err != nil:
			return whole - bounded.N, false, errors.New("the file is damaged")
		}
		if ended, err := s.add(record); ended || err != nil {
			return whole - bounded.N, ended, err
		}
	}
}

func (s *Session) add(record *deckv1.SessionRecord) (ended bool, err error) {
	if s.Header == nil {
		if s.Header = record.GetHeader(); s.Header == nil {
			return false, errors.New("the file is damaged")
		}
		if s.Header.GetFormat() > Format {
			return false, &NewerError{Format: s.Header.GetFormat(), Version: s.Header.GetProgramVersion()}
		}
		if !s.Header.GetBeganAt().IsValid() {
			s.Header.BeganAt = &timestamppb.Timestamp{} // times of day are not those of the session then
		}
		return false, nil
	}
	if at := record.GetAt().AsDuration(); at < s.Duration() || at > maxTime {
		return false, errors.New("the file is damaged")
	}
	s.Records = append(s.Records, record)
	if end := record.GetEnd(); end != nil {
		s.Missing = end.GetReason()
		return true, nil
	}
	return false, nil
}
