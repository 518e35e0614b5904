// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sessionfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// requirePrefix requires that a damaged file has no record that the whole one does not have at the same place.
func requirePrefix(t *testing.T, whole *Session, damaged []byte, where int) (records int) {
	t.Helper()
	s, err := Read(bytes.NewReader(damaged), 0)
	if err != nil {
		require.True(t, errors.Is(err, ErrNoSession), "at %d: %v", where, err)
		return 0
	}
	require.NotEmpty(t, s.Missing, "at %d", where)
	require.LessOrEqual(t, len(s.Records), len(whole.Records), "at %d", where)
	for i, record := range s.Records {
		require.True(t, proto.Equal(whole.Records[i], record), "record %d, damaged at %d", i, where)
	}
	return len(s.Records)
}

func TestAFileThatIsCutAtAnyByteOpensAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	content := recorded(t, 120).Bytes()
	whole, err := Read(bytes.NewReader(content), 0)
	require.NoError(t, err)
	most := 0
	for at := range content {
		records := requirePrefix(t, whole, content[:at], at)
		require.GreaterOrEqual(t, records, most, "a longer file has no less")
		most = records
	}
	require.Equal(t, 100, most, "all but the last chunk, which has the end")
}

func TestAFileWithAChangedBitOpensUpToIt(t *testing.T) {
	t.Parallel()
	content := recorded(t, 120).Bytes()
	whole, err := Read(bytes.NewReader(content), 0)
	require.NoError(t, err)
	for at := range content {
		changed := bytes.Clone(content)
		changed[at] ^= 1 << (at % 8)
		requirePrefix(t, whole, changed, at)
	}
}

// file is a session of chunks that are given as they are before they are compressed, after the header.
func file(t *testing.T, chunks ...[]byte) []byte {
	t.Helper()
	out := &memory{}
	w, err := NewWriter(out, header, 0)
	require.NoError(t, err)
	for _, chunk := range chunks {
		var packed bytes.Buffer
		compressed, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		require.NoError(t, err)
		_, err = compressed.Write(chunk)
		require.NoError(t, err)
		require.NoError(t, compressed.Close())
		require.NoError(t, w.write(append(chunkHeader(packed.Bytes()), packed.Bytes()...)))
	}
	return out.Bytes()
}

func records(t *testing.T, all ...*deckv1.SessionRecord) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, record := range all {
		_, err := protodelim.MarshalTo(&out, record)
		require.NoError(t, err)
	}
	return out.Bytes()
}

func TestRecordsThatNoProgramWritesAreRefused(t *testing.T) {
	t.Parallel()
	at := func(d *durationpb.Duration) *deckv1.SessionRecord {
		record := logRecord(1)
		record.At = d
		return record
	}
	good, late := at(durationpb.New(time.Second)), &durationpb.Duration{Seconds: math.MaxInt64}
	nothing := make([]byte, 32<<20)
	for name, c := range map[string]struct {
		chunk   []byte
		records int
		missing string
	}{
		"a time before the last":   {records(t, good, at(durationpb.New(time.Millisecond))), 1, "the file is damaged"},
		"a negative time":          {records(t, at(durationpb.New(-1))), 0, "the file is damaged"},
		"the end of time":          {records(t, good, at(late)), 1, "the file is damaged"},
		"a record that is not one": {append(records(t, good), 3, 0xff, 0xff, 0xff), 1, "the file is damaged"},
		"a record of 4 GiB":        {append(records(t, good), 0xff, 0xff, 0xff, 0xff, 0x0f), 1, "the file is damaged"},
		"millions of empty ones":   {nothing, 8 << 20 / leastRecord, errLong.Error()},
		"a bomb":                   {append([]byte{0xff, 0xff, 0xff, 0x0f}, nothing...), 0, errLong.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Read(bytes.NewReader(file(t, c.chunk)), 8<<20)
			require.NoError(t, err)
			require.Equal(t, c.missing, s.Missing)
			require.LessOrEqual(t, len(s.Records), c.records+1)
			require.GreaterOrEqual(t, len(s.Records), c.records-1)
		})
	}
}

func TestAWriterWritesNoMoreThanReadTakes(t *testing.T) {
	t.Parallel()
	out := &memory{}
	w, err := NewWriter(out, header, 1<<20)
	require.NoError(t, err)
	count := 0
	for err == nil {
		if err = w.Add(time.Duration(math.MaxInt64), &deckv1.SessionRecord{}); err == nil {
			count++
		}
	}
	require.ErrorIs(t, err, ErrLimit)
	require.NoError(t, w.End(0, ""))
	s, err := Read(out, 2<<20)
	require.NoError(t, err)
	require.Empty(t, s.Missing)
	require.Len(t, s.Records, count+1)
	require.Equal(t, maxTime, s.Duration())
}

func TestASessionThatBeganAtNoTimeOpens(t *testing.T) {
	t.Parallel()
	out := &memory{}
	_, err := NewWriter(out, &deckv1.SessionHeader{BeganAt: &timestamppb.Timestamp{Seconds: math.MaxInt64}}, 0)
	require.NoError(t, err)
	s, err := Read(io.Reader(out), 0)
	require.NoError(t, err)
	require.True(t, s.Header.GetBeganAt().IsValid())
}
