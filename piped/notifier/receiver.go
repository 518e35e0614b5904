// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// queueSize bounds the events that wait for one receiver.
	queueSize = 1000
	maxTries  = 6
	// firstPause is the ceiling of the first pause; it doubles with each try.
	firstPause = 500 * time.Millisecond
	// longestRetryAfter bounds how long a receiver may ask to be left alone.
	longestRetryAfter = time.Minute
)

// sender sends one event in one request.
type sender interface {
	// send returns a *passingError when another try may succeed.
	send(ctx context.Context, e *observe.Event) error
}

// passingError is a failure that may pass.
type passingError struct {
	err error
	// after is the time that the receiver has asked for; 0 when it did not.
	after time.Duration
}

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

// receiver is a queue and who sends from it.
type receiver struct {
	name   string
	sender sender
	queue  chan observe.Event
	clock  clock.Timer
	logger *slog.Logger

	sent, failed, dropped atomic.Int64
	// unsaid are the dropped events that no log line has counted yet.
	unsaid atomic.Int64
	// failure is why the last notification was not taken; nil when it was.
	failure atomic.Pointer[error]
}

func newReceiver(name string, s sender, o Options) *receiver {
	return &receiver{
		name: name, sender: s, queue: make(chan observe.Event, queueSize), clock: o.Clock,
		logger: o.Logger.With("receiver", name),
	}
}

// put queues the event, or drops it when the queue is full.
func (r *receiver) put(e observe.Event) {
	select {
	case r.queue <- e:
	default:
		r.dropped.Add(1)
		if r.unsaid.Add(1) == 1 {
			r.logger.Warn("notifications are dropped: the receiver is too slow or away", "waiting", queueSize)
		}
	}
}

// run sends until stopping is closed and the queue is empty, or ctx ends.
func (r *receiver) run(ctx context.Context, stopping <-chan struct{}) {
	for ctx.Err() == nil {
		select {
		case e := <-r.queue:
			r.deliver(ctx, &e)
			continue
		default:
		}
		select {
		case e := <-r.queue:
			r.deliver(ctx, &e)
		case <-stopping:
			if len(r.queue) == 0 {
				return
			}
		}
	}
	if left := len(r.queue); left > 0 {
		r.logger.Warn("notifications were not sent before piped stopped", "number", left)
	}
}

// deliver tries to send one event until it is taken, refused for good, or was tried often enough.
func (r *receiver) deliver(ctx context.Context, e *observe.Event) {
	if n := r.unsaid.Swap(0); n > 0 {
		r.logger.Warn("notifications were dropped", "number", n)
	}
	backoff := clock.NewBackoff(firstPause, longestRetryAfter)
	for try := 1; ; try++ {
		err := r.sender.send(ctx, e)
		var passing *passingError
		switch {
		case err == nil:
			r.sent.Add(1)
			r.failure.Store(nil)
			return
		case !errors.As(err, &passing) || try == maxTries || ctx.Err() != nil:
			r.failed.Add(1)
			r.failure.Store(&err)
			r.logger.Error(
				"a notification could not be sent", "event", e.Type, "application", e.ApplicationName(), "tries", try,
				"error", err,
			)
			return
		}
		pause := max(min(passing.after, longestRetryAfter), backoff.Next())
		r.logger.Debug(
			"a notification was not taken; it is sent again", "event", e.Type, "try", try, "pause", pause, "error", err,
		)
		_ = clock.Wait(ctx, r.clock, pause) // the next try ends with ctx
	}
}
