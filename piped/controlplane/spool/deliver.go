// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// maxFailures bounds the tries of a report that the control plane takes but fails at: it may well fail
	// always, and the others wait behind it.
	maxFailures = 10
	// triesToWarn is the number of tries over a connection that stands after which a user is notified.
	triesToWarn = 10
)

// Run delivers what is kept until ctx ends; the rest stays for the next agent. It always returns nil.
func (s *Spool) Run(ctx context.Context, to ControlPlane) error {
	for {
		head, ok := s.head(ctx)
		if !ok || !s.deliver(ctx, to, head) {
			return nil
		}
		s.mu.Lock()
		s.forget(0)
		if len(s.queue) == 0 {
			s.options.Logger.Info("the control plane has got all reports that were kept for it")
		}
		s.mu.Unlock()
	}
}

// head waits for a report. It returns false when ctx has ended.
func (s *Spool) head(ctx context.Context) (entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 {
		if s.wait(ctx) != nil {
			return entry{}, false
		}
	}
	return s.queue[0], ctx.Err() == nil
}

// deliver tries until the report has arrived or is given up. It returns false when ctx has ended before.
func (s *Spool) deliver(ctx context.Context, to ControlPlane, e entry) bool {
	name, request, _, err := s.read(e.number)
	if err != nil {
		s.options.Logger.Error("a kept report cannot be read and is dropped", "file", s.path(e.number), "error", err)
		s.drop(func(d *Dropped) { d.Unreadable++ })
		return true
	}
	backoff := clock.NewBackoff(firstPause, longestPause)
	for try, failures := 1, 0; ; try++ {
		err := to.Deliver(controlplane.Once(ctx), service+name, request, &emptypb.Empty{}) // the answers are empty
		if err != nil && !away(err) {
			failures++
		}
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case !away(err) && controlplane.Refused(err), failures >= maxFailures:
			s.options.Logger.Error("the control plane refuses a report that was kept for it; it is dropped", "call",
				name, "deployment", deploymentOf(request), "error", err)
			s.drop(func(d *Dropped) { d.Refused++ })
			return true
		}
		level := slog.LevelDebug // that it is away has been said
		if !controlplane.Passing(err) || try%triesToWarn == 0 {
			level = slog.LevelWarn
		}
		s.options.Logger.Log(ctx, level, "kept report does not get through; it is tried again, and those behind "+
			"it wait", "call", name, "try", try, "error", err)
		if to.Connected(ctx) != nil {
			return false
		}
		if backoff.Wait(ctx, s.options.Clock) != nil {
			return false
		}
	}
}

func (s *Spool) drop(count func(*Dropped)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count(&s.dropped)
}

// away reports whether a kept report may arrive later, however long that takes. Unlike elsewhere, a key that is not
// accepted is no refusal: a user can correct it, and no report is lost over a mistake in the configuration.
func away(err error) bool {
	return controlplane.Passing(err) || status.Code(err) == codes.Unauthenticated
}
