// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// What one message holds at most, so that no limit on messages is met: events are sent in
// batches of this many bytes, save where a single one is larger.
const batchBytes = 1 << 20

// Watch sends the whole state, Synced, and then every change in order.
func (s *Server) Watch(r *deckv1.WatchRequest, stream grpc.ServerStreamingServer[deckv1.WatchResponse]) error {
	sub, state := s.store.Subscribe(r.GetLogs())
	defer sub.Close()
	out := &sender{stream: stream}
	if err := s.sendState(out, state); err != nil {
		return err
	}
	for {
		changes, err := sub.Next(stream.Context())
		if errors.Is(err, store.ErrFellBehind) {
			state = sub.Resync()
			out.add(&deckv1.Event{Time: s.timestamp(), Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}})
			if err := s.sendState(out, state); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := out.send(changes); err != nil {
			return err
		}
	}
}

func (s *Server) sendState(out *sender, state []store.Change) error {
	for _, c := range state {
		if err := out.addChange(c); err != nil {
			return err
		}
	}
	out.add(&deckv1.Event{Time: s.timestamp(), Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}})
	return out.flush()
}

// sender gathers events into messages of a bounded size.
type sender struct {
	stream grpc.ServerStreamingServer[deckv1.WatchResponse]
	events []*deckv1.Event
	bytes  int
}

func (o *sender) send(changes []store.Change) error {
	for _, c := range changes {
		if err := o.addChange(c); err != nil {
			return err
		}
	}
	return o.flush()
}

func (o *sender) addChange(c store.Change) error {
	for _, e := range events(c) {
		o.add(e)
		if o.bytes >= batchBytes {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *sender) add(e *deckv1.Event) {
	o.events = append(o.events, e)
	o.bytes += proto.Size(e)
}

func (o *sender) flush() error {
	if len(o.events) == 0 {
		return nil
	}
	err := o.stream.Send(&deckv1.WatchResponse{Events: o.events})
	o.events, o.bytes = nil, 0
	return err
}
