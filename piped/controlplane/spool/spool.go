// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Options of a Spool.
type Options struct {
	// Dir is the directory of the reports. Open creates it; nothing else uses it.
	Dir string
	// MaxBytes and MaxReports bound what is kept. Defaults: 64 MiB and 10,000.
	MaxBytes   int64
	MaxReports int
	Logger     *slog.Logger
	// Clock is for the pauses between tries of a delivery. Default: the system's.
	Clock clock.Timer
}

// ControlPlane is what a Spool delivers reports to.
type ControlPlane interface {
	// Deliver makes a call that passes none of the layers before the Spool, nor the Spool. It does not try again while
	// the control plane is away when its context is one of controlplane.Once.
	Deliver(ctx context.Context, method string, request, reply any) error
	// Connected waits for a connection, so that reports go out as soon as there is one.
	Connected(ctx context.Context) error
}

var _ ControlPlane = (*controlplane.Client)(nil)

// Spool keeps reports while the control plane is away.
type Spool struct {
	options Options
	dir     *os.File // for syncing what was made in it

	mu      sync.Mutex
	queue   []entry // oldest first
	bytes   int64
	dropped Dropped
	full    int           // reports that wait for room
	number  uint64        // of the next report
	changed chan struct{} // closed when the queue changes
}

// entry is a report on disk.
type entry struct {
	number uint64
	size   int64
	since  time.Time
	kind   kind
	log    stageLog // only of logs
	object object   // only of those that are read back
}

// Open reads what an earlier agent has left. The caller runs and closes the Spool.
func Open(options Options) (*Spool, error) {
	if options.MaxBytes <= 0 {
		options.MaxBytes = 64 << 20
	}
	if options.MaxReports <= 0 {
		options.MaxReports = 10_000
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Clock == nil {
		options.Clock = clock.System{}
	}
	s := &Spool{options: options, changed: make(chan struct{})}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open the reports kept for the control plane in %s: %w", options.Dir, err)
	}
	return s, nil
}

// Close gives the directory back; reports that wait stay in it. Call it after Run.
func (s *Spool) Close() error { return s.dir.Close() }

// Waiting is the number of reports that are kept.
func (s *Spool) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Dropped counts reports that never arrive, since the start.
type Dropped struct {
	// NoRoom are logs, and the parts of logs that a line took the place of.
	NoRoom int64
	// Refused are those that the control plane did not take, Unreadable those that were damaged on disk.
	Refused, Unreadable int64
}

// Stats is what the spool holds.
type Stats struct {
	Reports int
	Bytes   int64
	// Oldest is when the first of them was kept; zero when there is none.
	Oldest  time.Time
	Dropped Dropped
	// Full reports that reports have to wait for room, and their deployments with them.
	Full bool
}

// Stats is a snapshot.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := Stats{Reports: len(s.queue), Bytes: s.bytes, Dropped: s.dropped, Full: s.full > 0}
	if len(s.queue) > 0 {
		stats.Oldest = s.queue[0].since
	}
	return stats
}

// call is one call that passes the Spool.
type call struct {
	name    string
	request proto.Message
	reply   any
	// next passes it on.
	next func(ctx context.Context) error
}

// Intercept is the layer of calls to the control plane that keeps reports. Calls of other services pass it as they are.
func (s *Spool) Intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	name, ours := strings.CutPrefix(method, service)
	c := call{name: name, request: request.(proto.Message), reply: reply, next: func(ctx context.Context) error {
		return invoke(ctx, method, request, reply, conn, opts...)
	}}
	switch {
	case !ours:
		return c.next(ctx)
	case isReport(name):
		return s.report(ctx, c)
	case objectOf(c.request) != object{}:
		return s.get(ctx, c)
	case contradicted[name]:
		return s.ask(ctx, c)
	default:
		return c.next(ctx)
	}
}

// report sends a report, or keeps it.
func (s *Spool) report(ctx context.Context, c call) error {
	if s.Waiting() == 0 {
		err := c.next(controlplane.Once(ctx))
		if !controlplane.Passing(err) || ctx.Err() != nil {
			return err
		}
		s.options.Logger.Debug("report did not get through", "call", c.name, "error", err)
	}
	return s.keep(ctx, c.name, c.request)
}

// ask makes a call whose answer kept reports would change, once they have been delivered.
func (s *Spool) ask(ctx context.Context, c call) error {
	for {
		before, err := s.delivered(ctx)
		if err != nil {
			return err
		}
		err = c.next(ctx)
		if !controlplane.Passing(err) || ctx.Err() != nil || s.kept() == before {
			return err
		}
		// Reports have been kept meanwhile: the call waits with them, or what depends on its answer would
		// fail while others go on.
	}
}

// delivered waits until what is kept now has been delivered, and returns how much was ever kept.
func (s *Spool) delivered(ctx context.Context) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.number
	for len(s.queue) > 0 && s.queue[0].number < last {
		if err := s.wait(ctx); err != nil {
			return last, status.FromContextError(err).Err()
		}
	}
	return last, nil
}

func (s *Spool) kept() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.number
}

// wait returns at the next change of the queue. It is called with the lock held, and gives it up meanwhile.
func (s *Spool) wait(ctx context.Context) error {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake wakes those that wait. It is called with the lock held.
func (s *Spool) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
