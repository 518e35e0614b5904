// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Options say when a reader stops and what to leave out. The zero value reads everything until ctx ends.
type Options struct {
	// Until is asked whenever the state is complete and something has happened; true ends the reader.
	// See state.Deck.SettledAt for "everything at this commit has been deployed".
	Until func(*state.Deck) bool
	// OnChange sees every change after it has been written.
	OnChange func(Change)
	// WithoutLogs leaves out the logs of stages.
	WithoutLogs bool
	// Flags, each after a space, name the environment in commands for the user.
	Flags string
	// ReadOnly: the user changes nothing, and no line names a command that does.
	ReadOnly bool
	// Next returns the client of the process in which the environment goes on after one that has ended; its error ends
	// the reader. Nil for an environment that ends with its process.
	Next func(ctx context.Context) (deckv1.DeckServiceClient, error)
}

// maxMessage bounds one message of the server, in bytes.
const maxMessage = 64 << 20

// ErrEnded says that the environment closed the stream before Until was satisfied: it has stopped.
var ErrEnded = errors.New("the environment has stopped")

// Follow reads changes and passes them to report, until one of: Until holds (nil), ctx ends (its error),
// the environment stops (ErrEnded), the stream or report fails.
func Follow(ctx context.Context, client deckv1.DeckServiceClient, opts Options, report func(Change) error) error {
	differ := NewDiffer()
	for {
		err := followOne(ctx, client, differ, opts, report)
		if opts.Next == nil || !errors.Is(err, ErrEnded) {
			return err
		}
		if client, err = opts.Next(ctx); err != nil {
			return err
		}
		differ.Apply(&deckv1.Event{Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}})
	}
}

// followOne is Follow for one process of the environment.
func followOne(ctx context.Context, client deckv1.DeckServiceClient, differ *Differ, opts Options,
	report func(Change) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.Watch(ctx, &deckv1.WatchRequest{Logs: !opts.WithoutLogs}, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return fmt.Errorf("watch the environment: %w", err)
	}
	for {
		response, err := stream.Recv()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case status.Code(err) == codes.DeadlineExceeded:
			return context.DeadlineExceeded // the server may be first to see that time is up
		case errors.Is(err, io.EOF), status.Code(err) == codes.Unavailable:
			return ErrEnded
		case err != nil:
			return fmt.Errorf("watch the environment: %w", err)
		}
		for _, event := range response.GetEvents() {
			for _, change := range differ.Apply(event) {
				if err := report(change); err != nil {
					return fmt.Errorf("write an event: %w", err)
				}
				if opts.OnChange != nil {
					opts.OnChange(change)
				}
			}
		}
		if opts.Until != nil && differ.Deck().Synced() && opts.Until(differ.Deck()) {
			return nil
		}
	}
}
