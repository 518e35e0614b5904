// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

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
	out := &sender{store: s.store, stream: stream}
	if err := s.sendState(out, state); err != nil {
		return err
	}
	beat := heartbeat(r)
	for {
		changes, err := next(stream.Context(), sub, beat)
		if errors.Is(err, errQuiet) {
			if err := stream.Send(&deckv1.WatchResponse{}); err != nil {
				return err
			}
			continue
		}
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

// leastHeartbeat bounds what heartbeats cost.
const leastHeartbeat = time.Second

// heartbeat is the longest time without a message; 0 for any time.
func heartbeat(r *deckv1.WatchRequest) time.Duration {
	if asked := r.GetHeartbeat().AsDuration(); asked > 0 {
		return max(asked, leastHeartbeat)
	}
	return 0
}

// errQuiet says that nothing has changed for the time of a heartbeat.
var errQuiet = errors.New("nothing has changed")

// next waits for changes; with a heartbeat not longer than that.
func next(ctx context.Context, sub *store.Subscription, beat time.Duration) ([]store.Change, error) {
	if beat == 0 {
		return sub.Next(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, beat, errQuiet)
	defer cancel()
	changes, err := sub.Next(ctx)
	if err != nil && !errors.Is(err, store.ErrFellBehind) && errors.Is(context.Cause(ctx), errQuiet) {
		return nil, errQuiet
	}
	return changes, err
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
	store  *store.Store
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
	if c.Log != nil {
		return o.addLog(c.Log)
	}
	return o.addEvent(event(c))
}

// addLog reads the blocks of a change. Those that are no longer kept are left out.
func (o *sender) addLog(l *store.LogChange) error {
	for at := l.From; at < l.To; {
		page, err := o.store.Deployments.ReadLog(l.DeploymentID, l.StageID, at)
		if err != nil || page.Next <= at {
			return nil // the deployment is no longer kept
		}
		at = page.Next - len(page.Blocks)
		for _, b := range page.Blocks {
			if at >= l.To {
				return nil
			}
			at++
			e := &deckv1.Event{Time: timestamppb.New(b.Received),
				Kind: &deckv1.Event_Log{Log: logBlock(l.DeploymentID, l.StageID, b)}}
			if err := o.addEvent(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *sender) addEvent(e *deckv1.Event) error {
	o.add(e)
	if o.bytes >= batchBytes {
		return o.flush()
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
