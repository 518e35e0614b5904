// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package film

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

// maxFuzzed bounds what is shown of an input, in bytes.
const maxFuzzed = 1 << 14

// FuzzPicture shows what no environment has sent: the UI draws it, and the picture is one.
func FuzzPicture(f *testing.F) {
	for _, record := range tour(f).Records[:40] {
		f.Add(records(f, record))
	}
	f.Add(records(f, tour(f).Records[150:170]...))
	f.Fuzz(func(t *testing.T, content []byte) {
		session := &sessionfile.Session{Header: &deckv1.SessionHeader{BeganAt: &timestamppb.Timestamp{}}}
		in := bytes.NewReader(content[:min(len(content), maxFuzzed)])
		for {
			record := &deckv1.SessionRecord{}
			if protodelim.UnmarshalFrom(in, record) != nil {
				break
			}
			record.At = durationpb.New(0)
			session.Records = append(session.Records, record)
		}
		synced := &deckv1.Event{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}}
		session.Records = append(session.Records, &deckv1.SessionRecord{At: durationpb.New(0),
			Kind: &deckv1.SessionRecord_Event{Event: synced}})
		svg, err := Picture(t.Context(), player.NewReel(session), options())
		require.NoError(t, err)
		wordsOf(t, svg)
	})
}

func records(t testing.TB, all ...*deckv1.SessionRecord) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, record := range all {
		_, err := protodelim.MarshalTo(&out, record)
		require.NoError(t, err)
	}
	return out.Bytes()
}
