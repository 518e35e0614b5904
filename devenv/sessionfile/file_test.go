// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sessionfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// memory is a file that has room for so many bytes.
type memory struct {
	bytes.Buffer
	room int
}

func (m *memory) Write(p []byte) (int, error) {
	if m.room > 0 && m.Len()+len(p) > m.room {
		n, _ := m.Buffer.Write(p[:m.room-m.Len()])
		return n, errors.New("no space left on device")
	}
	return m.Buffer.Write(p)
}

func (m *memory) Truncate(size int64) error {
	m.Buffer.Truncate(int(size))
	return nil
}

func logRecord(i int) *deckv1.SessionRecord {
	return &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Event{Event: &deckv1.Event{Kind: &deckv1.Event_Log{
		Log: &deckv1.LogBlock{DeploymentId: "d", StageId: "s", Text: fmt.Sprintf("line %d of the log", i)}}}}}
}

var header = &deckv1.SessionHeader{ProgramVersion: "v1.2.3", Environment: "demo"}

// recorded is a session of so many records, a chunk for every hundred.
func recorded(t *testing.T, records int) *memory {
	t.Helper()
	file := &memory{}
	w, err := NewWriter(file, header, 0)
	require.NoError(t, err)
	for i := range records {
		require.NoError(t, w.Add(time.Duration(i)*time.Millisecond, logRecord(i)))
		if i%100 == 99 || i == 50 {
			require.NoError(t, w.Flush())
		}
	}
	require.NoError(t, w.End(time.Duration(records)*time.Millisecond, ""))
	return file
}

func TestASessionIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	s, err := Read(recorded(t, 1000), 0)
	require.NoError(t, err)
	require.Empty(t, s.Missing)
	require.Equal(t, "demo", s.Header.GetEnvironment())
	require.EqualValues(t, Format, s.Header.GetFormat())
	require.Len(t, s.Records, 1001)
	require.Equal(t, "line 999 of the log", s.Records[999].GetEvent().GetLog().GetText())
	require.Equal(t, time.Second, s.Duration())
}

func TestADamagedFileOpensAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	whole := recorded(t, 1000).Bytes()
	half := len(whole) / 2
	changed := bytes.Clone(whole)
	changed[half] ^= 1
	for name, c := range map[string]struct {
		file    []byte
		missing string
	}{
		"the end is missing":          {whole[:half], "the file ends in the middle of a record"},
		"a byte has changed":          {changed, "the file is damaged"},
		"something stands at the end": {append(bytes.Clone(whole), "more"...), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := Read(bytes.NewReader(c.file), 0)
			require.NoError(t, err)
			require.Equal(t, c.missing, s.Missing)
			require.NotEmpty(t, s.Records)
			require.Equal(t, "line 0 of the log", s.Records[0].GetEvent().GetLog().GetText())
		})
	}
}

func TestARecordingThatWasKilledSaysThatItDidNotEnd(t *testing.T) {
	t.Parallel()
	file := &memory{}
	w, err := NewWriter(file, header, 0)
	require.NoError(t, err)
	require.NoError(t, w.Add(time.Second, logRecord(1)))
	require.NoError(t, w.Flush())
	s, err := Read(file, 0)
	require.NoError(t, err)
	require.Equal(t, "the recording was not ended in order", s.Missing)
	require.Len(t, s.Records, 1)
}

func TestAFullDiskLeavesWhatWasWritten(t *testing.T) {
	t.Parallel()
	file := &memory{room: 4096}
	w, err := NewWriter(file, header, 0)
	require.NoError(t, err)
	for i := 0; err == nil; i++ {
		if err = w.Add(time.Duration(i)*time.Millisecond, logRecord(i)); err == nil {
			err = w.Flush()
		}
	}
	require.ErrorContains(t, err, "no space left on device")
	require.ErrorContains(t, w.End(time.Hour, "the disk is full"), "no space left on device", "it writes no more")
	s, err := Read(file, 0)
	require.NoError(t, err)
	require.NotEmpty(t, s.Records)
	require.Equal(t, "the recording was not ended in order", s.Missing)
}

func TestASessionIsBoundedAndSaysSo(t *testing.T) {
	t.Parallel()
	file := &memory{}
	w, err := NewWriter(file, header, 10_000)
	require.NoError(t, err)
	for i := 0; err == nil; i++ {
		err = w.Add(time.Duration(i), logRecord(i))
	}
	require.ErrorIs(t, err, ErrLimit)
	require.NoError(t, w.End(time.Hour, err.Error()))
	s, err := Read(bytes.NewReader(file.Bytes()), 0)
	require.NoError(t, err)
	require.Equal(t, ErrLimit.Error(), s.Missing)

	s, err = Read(bytes.NewReader(file.Bytes()), 1000)
	require.NoError(t, err)
	require.Equal(t, "the session is longer than this program reads", s.Missing)
}

func TestOtherFilesAndNewerFormatsAreRefused(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "pipedeck", "PK\x03\x04", magic, magic + "12345678"} {
		_, err := Read(bytes.NewReader([]byte(content)), 0)
		require.ErrorIs(t, err, ErrNoSession, "%q", content)
	}
	file := &memory{}
	w := &Writer{file: file, limit: DefaultLimit}
	require.NoError(t, w.write([]byte(magic)))
	newer := proto.CloneOf(header)
	newer.Format = Format + 1
	require.NoError(t, w.Add(0, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Header{Header: newer}}))
	require.NoError(t, w.Flush())
	_, err := Read(file, 0)
	require.EqualError(t, err, "was recorded by pipedeck v1.2.3 in format 2; this program reads formats up to 1")
}

func FuzzRead(f *testing.F) {
	file := &memory{}
	w, err := NewWriter(file, header, 0)
	require.NoError(f, err)
	for i := range 3 {
		require.NoError(f, w.Add(time.Duration(i), logRecord(i)))
		require.NoError(f, w.Flush())
	}
	require.NoError(f, w.End(time.Second, ""))
	f.Add(file.Bytes())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := Read(io.LimitReader(bytes.NewReader(content), 1<<16), 1<<20)
		if err == nil && s.Header == nil {
			t.Fatal("a session without a header")
		}
	})
}
