// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	systemclock "github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Messages of the feed.
type (
	// connectedMsg: a client is there and its stream has begun.
	connectedMsg struct{ client deckv1.DeckServiceClient }
	// eventsMsg are events in their order, none when a server that was silent answers again; they belong to the
	// receiver.
	eventsMsg struct{ events []*deckv1.Event }
	// disconnectedMsg: the stream is over. ended: the server closed it on purpose.
	disconnectedMsg struct {
		err   error
		ended bool
	}
	// crashMsg ends the UI with an error.
	crashMsg struct{ err error }
	// interruptMsg ends the UI because its context has.
	interruptMsg struct{}
)

const (
	// maxMessage bounds one message of the server, in bytes; the start of a long log can come as one.
	maxMessage = 64 << 20
	// maxBatch bounds how many events the model takes at once.
	maxBatch = 512
	// firstRetry and lastRetry bound the pause before connecting again.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// feed keeps a Watch stream open and passes its events on.
type feed struct {
	client func(ctx context.Context) (deckv1.DeckServiceClient, error)
	send   func(tea.Msg)
	clock  clock
}

func (f feed) run(ctx context.Context) {
	pauses := systemclock.NewBackoff(firstRetry, lastRetry)
	for ctx.Err() == nil {
		heard, err := f.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		f.send(disconnectedMsg{err: err, ended: errors.Is(err, io.EOF) || errors.Is(err, ErrEnvironmentGone)})
		if heard {
			pauses.Reset()
		}
		select {
		case <-ctx.Done():
			return
		case <-f.clock.after(pauses.Next()):
		}
	}
}

// watch connects and passes events on until the stream ends; heard reports whether there were any.
func (f feed) watch(ctx context.Context) (heard bool, err error) {
	client, err := f.client(ctx)
	if err != nil {
		return false, err // the banner says what was tried
	}
	ctx, cancel := context.WithCancel(ctx)
	request := &deckv1.WatchRequest{Heartbeat: durationpb.New(heartbeat)}
	stream, err := client.Watch(ctx, request, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		cancel()
		return false, err
	}

	received := make(chan []*deckv1.Event, 16)
	failed := make(chan error, 1)
	go func() {
		defer close(received)
		for {
			response, err := stream.Recv()
			if err != nil {
				failed <- err
				return
			}
			for _, event := range response.GetEvents() {
				text.CleanMessage(event)
			}
			select {
			case received <- response.GetEvents():
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
	}()
	defer func() {
		cancel()
		for range received { // until the receiver has ended
		}
	}()

	quiet := newSilence(f.clock)
	for {
		select {
		case events, open := <-received:
			if !open {
				return heard, <-failed
			}
			if !heard {
				heard = true
				f.send(connectedMsg{client})
			}
			if ended := quiet.hear(len(events) == 0); ended || len(events) > 0 {
				f.send(eventsMsg{gather(events, received)})
			}
		case <-quiet.due:
			if quiet.look() {
				f.send(silentMsg{quiet.last})
			}
		}
	}
}

// gather adds the events that are there already: a model that is slower than the stream gets more at once instead of
// falling behind.
func gather(events []*deckv1.Event, received <-chan []*deckv1.Event) []*deckv1.Event {
	for len(events) < maxBatch {
		select {
		case next, open := <-received:
			if !open {
				return events
			}
			events = append(events, next...)
		default:
			return events
		}
	}
	return events
}
