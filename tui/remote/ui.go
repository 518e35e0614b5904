// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/app"
	"github.com/pipedeck/pipedeck/tui/text"
)

// runUI shows the UI until the watcher leaves, is idle, or ctx ends, and returns why it has ended; empty when the
// watcher has left.
func (s *session) runUI(ctx context.Context) (says string) {
	o := s.server.options
	var running sync.WaitGroup
	defer running.Wait()
	ui, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// A UI that has to end waits for its last frame; who does not read it is hung up on.
	defer context.AfterFunc(ui, func() { time.AfterFunc(lastWords, func() { _ = s.hangUp() }) })()
	notices := make(chan string, 1)
	idle := newIdle(o.Clock, o.Idle)
	running.Go(func() { idle.watch(ui, notices, stop) })
	link := &link{connect: o.Connect, seen: idle.touch}
	defer link.close()

	outcome, err := app.Run(ui, app.Config{
		Client: link.open, Name: o.Name, Version: o.Version, Notices: app.Notices{News: notices}, Playback: o.Playback,
		Guest:   &app.Guest{Size: s.terminal.size, Sizes: s.terminal.sizes},
		Input:   input{s.channel, idle.touch, ui.Done()},
		Output:  output{s.channel},
		Environ: append([]string{"TERM=" + s.terminal.name}, s.environ...),
	})
	switch cause := context.Cause(ui); {
	case err != nil && ui.Err() == nil:
		o.News("the UI of a watcher has failed: " + text.Line(err.Error()))
		return "the UI has failed; log in again to go on watching"
	case outcome == app.EnvironmentGone:
		return "the environment has ended"
	case errors.Is(cause, errIdle):
		return fmt.Sprintf("closed after %s without a key or a change; log in again to go on watching",
			shortly(o.Idle))
	case ui.Err() != nil:
		return sharingEnded
	}
	return ""
}

// sharingEnded is what watchers read when the command that serves them ends before the environment.
const sharingEnded = "no one shares the environment any more"

// shortly is a time without the parts that are 0.
func shortly(d time.Duration) string {
	if d >= time.Minute {
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return d.String()
}

// link gives a UI a client that only reads, again after each loss. One goroutine at a time calls it.
type link struct {
	connect func(ctx context.Context) (deckv1.DeckServiceClient, func(), error)
	end     func()
	// seen is called when a deployment has gone on.
	seen func()
}

func (l *link) open(ctx context.Context) (deckv1.DeckServiceClient, error) {
	l.close()
	client, end, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	l.end = end
	return reading(client, l.seen), nil
}

func (l *link) close() {
	if l.end != nil {
		l.end()
		l.end = nil
	}
}
