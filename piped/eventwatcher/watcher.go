// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package eventwatcher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// listed is how old the events are that are asked for. PipeCD v1: a day.
	listed = 24 * time.Hour
	// outdated is how old an event may be that is still applied. PipeCD v1: an hour.
	outdated = time.Hour

	firstPause   = time.Second
	longestPause = time.Minute
)

// Options of a Watcher.
type Options struct {
	ControlPlane pipedservice.PipedServiceClient
	Repositories []*git.Repository
	// Config is spec.eventWatcher of the piped configuration.
	Config config.EventWatcher
	// Name and Email sign the commits.
	Name, Email string
	// Handled gets the outcome of each event; it may be nil.
	Handled func(model.EventStatus)
	// Passed gets the outcome of each look at the events: an error is tried again. It may be nil.
	Passed func(error)
	Logger *slog.Logger
	// Clock is the system's when nil.
	Clock clock.Clock
}

// Watcher applies events.
type Watcher struct {
	options Options
	logger  *slog.Logger
	wake    chan struct{}
	// open says that an event had no result at the last pass.
	open atomic.Bool
	// headTimeout is headTimeout but in tests.
	headTimeout time.Duration
}

// New creates a Watcher; nothing starts before Run.
func New(o Options) *Watcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Handled == nil {
		o.Handled = func(model.EventStatus) {}
	}
	if o.Passed == nil {
		o.Passed = func(error) {}
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Config.CheckInterval <= 0 {
		o.Config.CheckInterval = config.Duration(time.Minute)
	}
	return &Watcher{options: o, logger: o.Logger, wake: make(chan struct{}, 1), headTimeout: headTimeout}
}

// Changed says that there may be new events, or applications that want them.
func (w *Watcher) Changed() {
	select {
	case w.wake <- struct{}{}:
	default: // it looks at everything anyhow
	}
}

// Looked says that the repositories were read again: an event that no configuration has matched may match one now.
func (w *Watcher) Looked() {
	if w.open.Load() {
		w.Changed()
	}
}

// Run applies events after each Changed, until ctx ends. It always returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	var timer <-chan time.Time
	backoff := clock.NewBackoff(firstPause, longestPause)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.wake:
		case <-timer:
		}
		timer = nil
		open, err := w.pass(ctx)
		if ctx.Err() != nil {
			return nil
		}
		w.open.Store(open)
		w.options.Passed(err)
		switch {
		case err != nil:
			w.logger.Warn("events could not be handled; it is tried again", "error", err)
			timer = w.options.Clock.After(backoff.Next())
		case open:
			// A configuration that wants the event may be on its way.
			timer = w.options.Clock.After(w.options.Config.CheckInterval.Std())
			backoff.Reset()
		default:
			backoff.Reset()
		}
	}
}

// pass handles all events that are not handled yet. It returns whether an event is left that no one here
// wants and that may still be applied.
func (w *Watcher) pass(ctx context.Context) (open bool, err error) {
	now := w.options.Clock.Now()
	answer, err := w.options.ControlPlane.ListEvents(ctx, &pipedservice.ListEventsRequest{
		From: now.Add(-listed).Unix(), Order: pipedservice.ListOrder_DESC,
		Status: pipedservice.ListEventsRequest_NOT_HANDLED,
	})
	if err != nil {
		return false, fmt.Errorf("list the events: %w", err)
	}
	groups := group(answer.GetEvents())
	if len(groups) == 0 {
		return false, nil
	}
	rules, unread := w.rules(ctx)
	failed := unread
	for _, g := range groups {
		matching := rules[g.key]
		if len(matching) == 0 {
			open = open || now.Sub(g.newest().at()) < outdated
			continue
		}
		if err := w.handle(ctx, g, matching); err != nil {
			failed = errors.Join(failed, err)
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return open, failed
}
