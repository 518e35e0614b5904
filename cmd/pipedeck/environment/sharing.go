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
	l.shared, err = l.sharing.Start(ctx, share.Subject{
		Name: w.Name, Dir: w.Dir, Mode: mode,
		Connect: func(ctx context.Context) (deckv1.DeckServiceClient, func(), error) {
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
			return deck, func() { _ = conn.Close() }, nil
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
			if err := reader.Part(out, time.Now(), a.Part, a.Text); err != nil {
				return err
			}
			continue
		}
		for _, text := range append([]string{"others can watch at " + a.Text}, a.Notes...) {
			words := fmt.Sprintf("%-11s  %s", a.Part, text)
			if mode == outputReader {
				words = a.Part + ": " + text
			}
			if _, err := fmt.Fprintln(out, mode.line(time.Now(), words)); err != nil {
				return err
			}
		}
	}
	return nil
}
