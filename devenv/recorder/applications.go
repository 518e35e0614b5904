// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// applications records the live resources of every application. It is used by one goroutine.
type applications struct {
	*recorder
	readers *errgroup.Group
	// watched has the applications that are there, and what ends their streams; nil in a snapshot.
	watched map[string]context.CancelFunc
}

// see begins and ends streams as applications come and go.
func (a *applications) see(ctx context.Context, event *deckv1.Event) {
	if gone, found := a.watched[event.GetRemoved().GetApplicationId()]; found {
		if gone != nil {
			gone()
		}
		delete(a.watched, event.GetRemoved().GetApplicationId())
	}
	id := event.GetApplication().GetId()
	if _, found := a.watched[id]; found || id == "" {
		return
	}
	if a.options.Snapshot {
		a.watched[id] = nil
		return
	}
	streaming, cancel := context.WithCancel(ctx)
	a.watched[id] = cancel
	a.readers.Go(func() error {
		defer cancel()
		return a.stream(ctx, streaming, id, false)
	})
}

// readOnce records what lives of each application now.
func (a *applications) readOnce(ctx context.Context) error {
	for id := range a.watched {
		streaming, cancel := context.WithCancel(ctx)
		err := a.stream(ctx, streaming, id, true)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// stream records the resources of an application until streaming ends, or once. A stream that breaks ends them: the
// stream of changes breaks with it when the environment ends.
func (a *applications) stream(ctx, streaming context.Context, id string, once bool) error {
	stream, err := a.deck.WatchResources(streaming, &deckv1.WatchResourcesRequest{ApplicationId: id},
		grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return context.Cause(ctx) // nil when the application is gone
	}
	for reset := true; ; reset = false {
		response, err := stream.Recv()
		if err != nil {
			return context.Cause(ctx) // nil when the application is gone
		}
		record := &deckv1.SessionResources{ApplicationId: id, Response: response, Reset_: reset}
		if err := a.add(ctx, &deckv1.SessionRecord{
			Kind: &deckv1.SessionRecord_Resources{Resources: record}}); err != nil {
			return err
		}
		if once && response.GetComplete() {
			return nil
		}
	}
}
