// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// queued bounds the records that wait for the file. Streams of the deck API wait behind it.
	queued = 256
	// maxMessage bounds one message of the deck API, in bytes.
	maxMessage = 64 << 20
	// flushEvery is how long a record may wait in memory.
	flushEvery = time.Second
)

// Options are what a recording needs to know.
type Options struct {
	// Environment is its name, Version that of this program.
	Environment, Version string
	// Limit bounds the records in bytes before they are compressed; 0 is sessionfile.DefaultLimit.
	Limit int64
	// Snapshot ends the recording as soon as the present state is in the file.
	Snapshot bool
	// Missing is why the session is not complete even when the recording ends in order; empty when it is.
	Missing string
	// Synced is called once the present state is on its way to the file, and again for an environment that is followed
	// again; nil for no one.
	Synced func()
	// Clock is that of the session.
	Clock clock.Clock
}

// Session is the file of one session. One goroutine at a time uses it.
type Session struct {
	file    *sessionfile.Writer
	options Options
	began   time.Time
	// followed: an environment was recorded before; lost is why the connection to it is lost in the file, empty while
	// there is one; broken is why the file takes no more.
	followed bool
	lost     string
	broken   error
}

// recorder records an environment in a session until the connection to it breaks.
type recorder struct {
	*Session
	deck    deckv1.DeckServiceClient
	records chan stamped
}

// stamped is a record with its time.
type stamped struct {
	at     time.Duration
	record *deckv1.SessionRecord
}

// errComplete ends a snapshot.
var errComplete = errors.New("the state is complete")

// ErrLost says that the connection to the environment has broken, and not because the environment has closed it.
var ErrLost = errors.New("the connection to the environment was lost")

// Record writes the session of an environment to an empty file until ctx or the environment ends, which is an error of
// a snapshot only, or until the file takes no more. What was recorded until then stays; the last record says why it
// ended.
func Record(ctx context.Context, deck deckv1.DeckServiceClient, file sessionfile.File, o Options) error {
	s, err := Begin(file, o)
	if err != nil {
		return err
	}
	err = s.Follow(ctx, deck)
	if !o.Snapshot && errors.Is(err, ErrLost) {
		err = nil
	}
	return cmp.Or(err, s.End(o.Missing))
}

// Begin begins a session in an empty file.
func Begin(file sessionfile.File, o Options) (*Session, error) {
	began := o.Clock.Now()
	out, err := sessionfile.NewWriter(file, &deckv1.SessionHeader{
		ProgramVersion: o.Version, Environment: o.Environment, BeganAt: timestamppb.New(began),
	}, o.Limit)
	if err != nil {
		return nil, fmt.Errorf("begin the recording: %w", err)
	}
	return &Session{file: out, options: o, began: began}, nil
}

// Follow records an environment until ctx or the environment ends, which is an error of a snapshot only; ErrLost says
// that the connection broke. When it follows an environment again, the state of then replaces the one before.
func (s *Session) Follow(ctx context.Context, deck deckv1.DeckServiceClient) error {
	if s.broken != nil {
		return s.broken
	}
	r := &recorder{Session: s, deck: deck, records: make(chan stamped, queued)}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan error, 1)
	go func() { // ends before write does
		defer close(r.records)
		ended <- r.read(ctx)
	}()
	if err := r.write(); err != nil {
		stop(err)
		for range r.records { // until the readers have ended
		}
		s.broken = err
		return err
	}
	switch err := <-ended; {
	case errors.Is(err, errComplete):
		return nil
	case !s.options.Snapshot && (errors.Is(err, io.EOF) || ctx.Err() != nil):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !s.options.Snapshot && status.Code(err) == codes.Unavailable:
		return fmt.Errorf("%w: %w", ErrLost, err)
	default:
		return err
	}
}

// Lost records why the connection to the environment is lost, until Follow has it again. stopped says that the process
// of the environment was killed. The same reason again is recorded once.
func (s *Session) Lost(reason string, stopped bool) error {
	if s.broken != nil || s.lost == reason {
		return s.broken
	}
	s.lost = reason
	now := s.options.Clock.Now()
	record := connectionRecord(now, &deckv1.Connection{Lost: reason, Stopped: stopped})
	err := s.file.Add(now.Sub(s.began), record)
	if err != nil {
		s.broken = s.end(err.Error(), err)
		return s.broken
	}
	s.broken = s.file.Flush()
	return s.broken
}

// Err is why the file takes no more; nil while it does.
func (s *Session) Err() error { return s.broken }

func connectionRecord(now time.Time, connection *deckv1.Connection) *deckv1.SessionRecord {
	return &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Event{Event: &deckv1.Event{
		Time: timestamppb.New(now), Kind: &deckv1.Event_Connection{Connection: connection}}}}
}

// End ends the session with the reason why it is not complete; empty when it is. A session that has failed has its end.
func (s *Session) End(reason string) error {
	if s.broken != nil {
		return nil
	}
	s.broken = s.end(reason, nil)
	return s.broken
}

// read makes the records until there are no more.
func (r *recorder) read(ctx context.Context) error {
	readers, ctx := errgroup.WithContext(ctx)
	stages := newStages(r)
	readers.Go(func() error { return r.watch(ctx, readers, stages) })
	if !r.options.Snapshot {
		readers.Go(func() error { return stages.follow(ctx) })
	}
	return readers.Wait()
}

// watch records every change until the stream ends.
func (r *recorder) watch(ctx context.Context, readers *errgroup.Group, stages *stages) error {
	stream, err := r.deck.Watch(ctx, &deckv1.WatchRequest{Logs: true}, grpc.MaxCallRecvMsgSize(maxMessage))
	if err != nil {
		return fmt.Errorf("watch the environment: %w", err)
	}
	applications := &applications{recorder: r, readers: readers, watched: map[string]context.CancelFunc{}}
	again := r.followed
	for synced := false; ; {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := r.reset(ctx, again); err != nil {
			return err
		}
		again, r.followed = false, true
		for _, event := range response.GetEvents() {
			if err := r.add(ctx, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Event{Event: event}}); err != nil {
				return err
			}
			applications.see(ctx, event)
			stages.see(event)
			if event.GetSynced() == nil || synced {
				continue
			}
			synced = true
			if r.options.Synced != nil {
				r.options.Synced()
			}
			if r.options.Snapshot {
				return cmp.Or(applications.readOnce(ctx), stages.readOnce(ctx), errComplete)
			}
			readers.Go(func() error { return stages.readLogs(ctx) })
		}
	}
}

// reset records that a connection that was lost is there again, and that what follows replaces the state until now when
// an environment is followed again.
func (r *recorder) reset(ctx context.Context, again bool) error {
	if r.lost != "" {
		r.lost = ""
		if err := r.add(ctx, connectionRecord(r.options.Clock.Now(), &deckv1.Connection{})); err != nil {
			return err
		}
	}
	if !again {
		return nil
	}
	reset := &deckv1.Event{Time: timestamppb.New(r.options.Clock.Now()),
		Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}}
	return r.add(ctx, &deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Event{Event: reset}})
}

// add gives a record the present time, and waits while the file is slower.
func (r *recorder) add(ctx context.Context, record *deckv1.SessionRecord) error {
	select {
	case r.records <- stamped{r.options.Clock.Now().Sub(r.began), record}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write brings the records to the file until there are no more. An error of the file ends the session.
func (r *recorder) write() error {
	var due <-chan time.Time
	for {
		select {
		case s, open := <-r.records:
			if !open {
				return r.file.Flush()
			}
			if err := r.file.Add(s.at, s.record); err != nil {
				return r.end(err.Error(), err)
			}
			if due == nil {
				due = r.options.Clock.After(flushEvery)
			}
		case <-due:
			due = nil
			if err := r.file.Flush(); err != nil {
				return err
			}
		}
	}
}

// end ends the session in the file with the reason why it is not complete, and returns the error that has ended it, if
// any. A file that takes no more has its error already.
func (s *Session) end(reason string, cause error) error {
	err := s.file.End(s.options.Clock.Now().Sub(s.began), reason)
	if cause != nil {
		return cause
	}
	return err
}
