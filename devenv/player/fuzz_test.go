// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protodelim"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

// written is a file in memory.
type written struct{ bytes.Buffer }

func (w *written) Truncate(int64) error { return nil }

// maxFuzzed bounds what is played of an input, in bytes.
const maxFuzzed = 1 << 16

// seed are some records of a real session, as FuzzPlay takes them.
func seed(f *testing.F, from, to int) []byte {
	f.Helper()
	file, err := os.Open("../sessionfile/testdata/format-1.pipedeck")
	require.NoError(f, err)
	defer file.Close()
	s, err := sessionfile.Read(file, 0)
	require.NoError(f, err)
	var out bytes.Buffer
	for _, record := range s.Records[from:to] {
		_, err := protodelim.MarshalTo(&out, record)
		require.NoError(f, err)
	}
	return out.Bytes()
}

// FuzzPlay plays records that no program has made, in a file that is whole: what a position shows does not depend on
// the way to it.
func FuzzPlay(f *testing.F) {
	f.Add(seed(f, 0, 20), int64(time.Second), int64(0))
	f.Add(seed(f, 150, 200), int64(20*time.Second), int64(-1))
	f.Add([]byte{0, 0, 0}, int64(1)<<62, int64(1)<<62)
	f.Fuzz(func(t *testing.T, content []byte, first, second int64) {
		file := &written{}
		w, err := sessionfile.NewWriter(file, &deckv1.SessionHeader{}, 0)
		require.NoError(t, err)
		in := bytes.NewReader(content[:min(len(content), maxFuzzed)])
		for {
			record := &deckv1.SessionRecord{}
			if protodelim.UnmarshalFrom(in, record) != nil {
				break
			}
			require.NoError(t, w.Add(record.GetAt().AsDuration(), record))
		}
		require.NoError(t, w.Flush())
		s, err := sessionfile.Read(file, 0)
		require.NoError(t, err)
		plays(t, s, time.Duration(first), time.Duration(second))
	})
}

// plays goes to two positions and back to the first.
func plays(t *testing.T, s *sessionfile.Session, first, second time.Duration) {
	t.Helper()
	p := New(s, &handClock{})
	sent := watched{jump: -1}
	p.Seek(first)
	before, _ := p.changes(&sent, true)
	p.Skip(second)
	p.changes(&sent, true)
	p.NextEvent()
	p.PreviousEvent()
	p.Faster()
	p.step()
	p.Seek(first)
	p.changes(&sent, true)
	again := watched{jump: -1}
	after, _ := p.changes(&again, true)
	require.Len(t, after, len(before))
	at := p.Position()
	require.True(t, at.At >= 0 && at.At <= at.Length, "%v", at)
	reel := NewReel(s)
	for next, more := reel.Next(); more; next, more = reel.Next() {
		reel.Advance(next)
	}
	NewTranscript(s)
}
