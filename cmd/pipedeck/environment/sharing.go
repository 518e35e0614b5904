// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/share"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/page"
	"github.com/pipedeck/pipedeck/tui/reader"
)

// shareEnvironment lets others watch an environment until shared is closed; it may still have to start. Closing nothing
// that is shared does nothing.
func (l *look) shareEnvironment(ctx context.Context, w *workspace.Workspace, mode string) (err error) {
	var found atomic.Bool
	dial := func(ctx context.Context) (deckv1.DeckServiceClient, *grpc.ClientConn, error) {
		if found.Load() { // before, there is no environment because it has not started
			if err := checkRunning(w); err != nil {
				return nil, nil, err
			}
		}
		deck, conn, err := session.Dial(ctx, w)
		if err != nil {
			return nil, nil, err
		}
		found.Store(true)
		return deck, conn, nil
	}
	l.shared, err = l.sharing.Start(ctx, share.Subject{
		Name: w.Name, Dir: w.Dir, Flags: session.Flags(w), Mode: mode,
		Connect: func(ctx context.Context) (deckv1.DeckServiceClient, func(), error) {
			deck, conn, err := dial(ctx)
			return deck, func() { _ = conn.Close() }, err
		},
		Announce: func(ctx context.Context) (deckv1.SharingServiceClient, func(), error) {
			_, conn, err := dial(ctx)
			return deckv1.NewSharingServiceClient(conn), func() { _ = conn.Close() }, err
		},
		Gone: func(err error) bool { return errors.Is(err, app.ErrEnvironmentGone) },
	})
	return err
}

// shareSession lets others watch a recorded session that is played.
func (l *look) shareSession(ctx context.Context, deck deckv1.DeckServiceClient, film *player.Player,
	recorded *sessionfile.Session) (err error) {
	l.shared, err = l.sharing.Start(ctx, share.Subject{
		Name: recorded.Header.GetEnvironment(), Mode: page.ModeReplay, Film: film, Missing: recorded.Missing,
		Recorded: recorded.Header.GetBeganAt().AsTime(),
		Connect: func(context.Context) (deckv1.DeckServiceClient, func(), error) {
			return deck, func() {}, nil
		},
	})
	return err
}

// announce prints how others can watch.
func (l *look) announce(mode OutputMode, out io.Writer) error {
	for _, a := range l.shared.Addresses() {
		if mode == outputJSON {
			if err := reader.Part(out, time.Now(), a.Part, a.Detail()); err != nil {
				return err
			}
			continue
		}
		for _, text := range append([]string{"others can watch " + a.With() + " " + a.Text}, a.Notes...) {
			if err := mode.part(out, a.Part, text); err != nil {
				return err
			}
		}
	}
	l.shared.Report(func(part, line string) {
		if mode == outputJSON {
			_ = reader.Part(out, time.Now(), part, line) // output that ends ends the command elsewhere
			return
		}
		_ = mode.part(out, part, line)
	})
	return nil
}

// part prints a line about a part of what is served.
func (m OutputMode) part(out io.Writer, part, line string) error {
	words := fmt.Sprintf("%-11s  %s", part, line)
	if m == outputReader {
		words = part + ": " + line
	}
	_, err := fmt.Fprintln(out, m.line(time.Now(), words))
	return err
}
