// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"io"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// follow writes what happens in an environment in one of the forms without a screen.
func follow(ctx context.Context, deck deckv1.DeckServiceClient, mode OutputMode, out io.Writer,
	options reader.Options) error {
	switch mode {
	case outputJSON:
		return reader.JSON(ctx, deck, out, options)
	case outputReader:
		return reader.Sentences(ctx, deck, out, options)
	default:
		return reader.Plain(ctx, deck, out, options)
	}
}

// attachReader follows an environment that other processes run, until it or this one ends.
func (l *look) attachReader(ctx context.Context, w *workspace.Workspace, mode OutputMode, out io.Writer) error {
	following := &processes{connection: &connection{workspace: w, recording: l.recording}}
	defer following.connection.close()
	deck, err := following.connect(ctx)
	if err != nil {
		return err
	}
	err = follow(ctx, deck, mode, out, reader.Options{Flags: session.Flags(w), ReadOnly: l.readOnly,
		Next: following.next})
	if errors.Is(err, reader.ErrEnded) {
		return nil
	}
	return err
}

// runWithReader runs the environment in this process and follows it until the user interrupts it.
func (s *Setup) runWithReader(ctx context.Context) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	existed, err := w.Exists()
	if err != nil {
		return err
	}
	err = s.host(ctx, func(ctx context.Context, deck deckv1.DeckServiceClient) error {
		unmatched := s.warnUnmatched()
		until := func(d *state.Deck) bool {
			unmatched(d)
			return false
		}
		return follow(ctx, deck, s.Mode, s.Out, reader.Options{Flags: s.Target.Flags(), Until: until})
	})
	if !s.began && !existed {
		err = errors.Join(err, discard(w))
	}
	return err
}

// finish writes the result line that ends --output json.
func finish(mode OutputMode, out io.Writer, err error) error {
	if mode != outputJSON {
		return err
	}
	code, reason := codeAndReason(err)
	return errors.Join(reader.Result(out, code, reason), err)
}

// host runs the environment in this process while watch looks at it. When watch returns the
// environment is ended; when the environment ends first, its error counts.
func (s *Setup) host(ctx context.Context, watch func(context.Context, deckv1.DeckServiceClient) error) error {
	w, err := s.Target.Workspace()
	if err != nil {
		return err
	}
	logger, closeLog, err := quiet(w)
	if err != nil {
		return err
	}
	defer closeLog()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listening := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.run(ctx, reports{
			logger:    logger,
			listening: func(string) { close(listening) },
			warn:      s.warn,
		})
	}()
	select {
	case err := <-ended:
		// It ends without an error when it was interrupted, which is no success either.
		return errors.Join(err, context.Cause(ctx))
	case <-listening:
	}
	deck, conn, err := session.Dial(ctx, w)
	if err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	defer conn.Close()
	s.recording.begin(ctx, w)
	watchErr := watch(ctx, deck)
	stop()
	if err := <-ended; err != nil {
		return err
	}
	if errors.Is(watchErr, reader.ErrEnded) {
		return nil // someone asked the environment to end
	}
	return watchErr
}
