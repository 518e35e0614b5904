// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// maxReceived bounds one message of the environment, in bytes.
	maxReceived = 64 << 20
	// firstRetry and lastRetry bound the pause before connecting again.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 2 * time.Second
	// heartbeat is how often the environment sends something while nothing changes; silenceLimit is the time without
	// anything after which watchers see that.
	heartbeat    = 5 * time.Second
	silenceLimit = 12 * time.Second
)

// errEnded is the end of a stream that the environment has ended on purpose.
var errEnded = errors.New(environmentEnded)

// run keeps one stream of events open until ctx ends or the environment has gone.
func (h *hub) run(ctx context.Context) {
	pauses := clock.NewBackoff(firstRetry, lastRetry)
	for ctx.Err() == nil {
		heard, err := h.watch(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case h.options.Gone != nil && h.options.Gone(err):
			h.end(ofEnvironment)
			return
		}
		h.connect(nil, Disconnected, err)
		if heard {
			pauses.Reset()
		}
		if pauses.Wait(ctx, h.options.Clock) != nil {
			return
		}
	}
}

// watch connects and takes events until the stream ends; heard reports whether there were any.
func (h *hub) watch(ctx context.Context) (heard bool, err error) {
	client, err := h.options.Connect(ctx)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	received, failed := make(chan []*deckv1.Event, 16), make(chan error, 1)
	defer func() {
		cancel()
		for range received { // until the receiver has ended
		}
	}()
	stream, err := client.Watch(ctx, &deckv1.WatchRequest{Heartbeat: durationpb.New(heartbeat)},
		grpc.MaxCallRecvMsgSize(maxReceived))
	if err != nil {
		close(received)
		return false, err
	}
	h.begin()
	go receive(ctx, stream, received, failed)
	return h.follow(client, received, failed)
}

// receive passes messages on until the stream ends.
func receive(ctx context.Context, stream grpc.ServerStreamingClient[deckv1.WatchResponse],
	received chan<- []*deckv1.Event, failed chan<- error) {
	defer close(received)
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		if err != nil {
			failed <- err
			return
		}
		select {
		case received <- response.GetEvents():
		case <-ctx.Done():
			failed <- ctx.Err()
			return
		}
	}
}

// follow takes what is received, and sends it on: at once after a pause, else when it was gathered.
func (h *hub) follow(client Deck, received <-chan []*deckv1.Event, failed <-chan error) (heard bool, err error) {
	var due <-chan time.Time
	time := h.options.Clock
	sent, last := time.Now().Add(-gatherTime), time.Now()
	silence := time.After(silenceLimit)
	playback := newFilmWatch(h)
	for {
		select {
		case events, open := <-received:
			if !open {
				return heard, <-failed
			}
			last = time.Now()
			if h.take(events); !heard || !h.connected() {
				heard = true
				h.connect(client, Connected, nil)
			}
			if wait := gatherTime - time.Now().Sub(sent); wait > 0 {
				if due == nil {
					due = time.After(wait)
				}
				continue
			}
		case <-due:
		case <-silence:
			quiet := time.Now().Sub(last)
			if quiet < silenceLimit {
				silence = time.After(silenceLimit - quiet)
				continue
			}
			silence = time.After(silenceLimit)
			h.connect(client, Disconnected, fmt.Errorf("the environment has not answered since %s",
				last.Local().Format("15:04:05")))
		case <-playback.changed():
			playback.look()
			continue
		}
		due, sent = nil, time.Now()
		h.publish()
	}
}
