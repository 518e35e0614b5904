// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/reader"
)

const (
	// replacementTime is how long clients wait for the process that takes the place of one that has ended for it.
	replacementTime = 30 * time.Second
	// processPoll is the pause between two looks at the process of an environment, whose end no event reports.
	processPoll = 20 * time.Millisecond
)

// errReplaced says that the process of an environment ends or has ended, and another one takes its place.
var errReplaced = errors.New("its process starts again with other flags")

// checkReplaced returns errReplaced while clients wait for the process that takes the place of another one. It takes no
// lock: that process would find it taken.
func checkReplaced(w *workspace.Workspace) error {
	last, err := lastProcess(w)
	if err != nil || last.ReplacedAt.IsZero() {
		return nil
	}
	if past := time.Since(last.ReplacedAt); past < 0 || past >= replacementTime {
		return nil
	}
	return fmt.Errorf("environment %q: %w", w.Name, errReplaced)
}

// lastProcess returns what the present or last process of an environment has published.
func lastProcess(w *workspace.Workspace) (*workspace.Running, error) {
	if running, err := w.Published(); err == nil {
		return running, nil
	}
	return w.LastRun()
}

// endsInOrder reports whether the process of an environment has ended in order, or is about to: what clients have until
// then is complete.
func endsInOrder(w *workspace.Workspace) bool {
	last, err := lastProcess(w)
	return err == nil && last.Ends
}

// processes are those of an environment that a reader follows, one after another.
type processes struct {
	connection *connection
	// began is when the process began that was connected to.
	began time.Time
}

func (p *processes) connect(ctx context.Context) (deckv1.DeckServiceClient, error) {
	if running, err := p.connection.workspace.Published(); err == nil {
		p.began = running.StartedAt
	}
	return p.connection.client(ctx)
}

// next returns the client of the next process when the environment goes on in one. Otherwise the error is
// reader.ErrEnded when the environment has ended in order, or why it has not.
func (p *processes) next(ctx context.Context) (deckv1.DeckServiceClient, error) {
	w := p.connection.workspace
	ticker, tooLate := time.NewTicker(processPoll), time.NewTimer(downTimeout)
	defer ticker.Stop()
	defer tooLate.Stop()
	for {
		if running, err := w.Published(); err == nil && running.ReplacedAt.IsZero() &&
			!running.StartedAt.Equal(p.began) {
			return p.connect(ctx)
		}
		if err := hasEnded(w); err != nil {
			return nil, err
		}
		select {
		case <-ticker.C:
		case <-tooLate.C:
			return nil, exit.With(exit.NotStarted, fmt.Errorf("the connection to environment %q is lost", w.Name),
				"look again with: pipedeck attach"+session.Flags(w))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// hasEnded returns how an environment has ended, as next does; nil while it may go on.
func hasEnded(w *workspace.Workspace) error {
	switch err := checkRunning(w); {
	case errors.Is(err, errReplaced):
		return nil
	case errors.Is(err, app.ErrEnvironmentGone):
		return reader.ErrEnded
	default:
		return err
	}
}
