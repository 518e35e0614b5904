// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Transcript is the deck API of a session for those who read it from the beginning to the end at once: Watch sends
// every change and ends. Everything else is as at the end of the session.
type Transcript struct{ *Server }

var _ deckv1.DeckServiceServer = Transcript{}

// NewTranscript returns the deck API of a whole session.
func NewTranscript(session *sessionfile.Session) Transcript {
	p := New(session, clock.System{})
	p.Toggle()
	p.Seek(session.Duration())
	return Transcript{NewServer(p)}
}

// Watch sends every change of the session.
func (t Transcript) Watch(r *deckv1.WatchRequest, stream grpc.ServerStreamingServer[deckv1.WatchResponse]) error {
	for _, record := range t.player.session.Records {
		if err := send(stream, eventsOf(record, r.GetLogs())); err != nil {
			return err
		}
	}
	return nil
}

// eventsOf are the changes of a record, with logs also what stages had written before the session.
func eventsOf(record *deckv1.SessionRecord, logs bool) []*deckv1.Event {
	event := record.GetEvent()
	switch {
	case event != nil && (logs || event.GetLog() == nil):
		return []*deckv1.Event{event}
	case !logs:
		return nil
	}
	var events []*deckv1.Event
	for _, block := range record.GetStageLog().GetResponse().GetBlocks() {
		events = append(events, &deckv1.Event{Time: block.GetTime(), Kind: &deckv1.Event_Log{Log: block}})
	}
	return events
}
