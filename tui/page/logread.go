// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// run reads the log until ctx ends: again after a loss of the connection, and when its stage runs again.
func (l *stageLog) run(ctx context.Context) {
	defer l.close()
	pauses := clock.NewBackoff(firstRetry, lastRetry)
	last := int64(-1)
	for ctx.Err() == nil {
		client, jumps, changed := l.hub.reader()
		if client == nil {
			if !wait(ctx, changed) {
				return
			}
			continue
		}
		was := l.hub.stage(l.id.deployment, l.id.stage)
		index, err := l.read(ctx, client, last)
		last = index
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			pauses.Reset()
			if !l.awaitAgain(ctx, jumps, was) {
				return
			}
		case status.Code(err) != codes.Aborted:
			l.fail(err)
			if pauses.Wait(ctx, l.hub.options.Clock) != nil {
				return
			}
		}
		if l.moved(jumps) {
			last = -1
			l.restart()
		}
	}
}

// moved reports whether a recorded session was moved to another time: its logs are others there.
func (l *stageLog) moved(jumps int) bool {
	_, now, _ := l.hub.reader()
	return now != jumps && l.hub.options.Film != nil
}

// awaitAgain returns when the stage of a complete log runs again, or when the state has begun again; false at the end
// of ctx. was is the stage before the log was read: a log is complete before its stage has ended, and until another
// attempt begins there is nothing more to read.
func (l *stageLog) awaitAgain(ctx context.Context, jumps int, was *deckv1.Stage) bool {
	ended := was == nil || state.StageEnded(was.GetStatus())
	for {
		_, now, changed := l.hub.reader()
		s := l.hub.stage(l.id.deployment, l.id.stage)
		runs := s != nil && !state.StageEnded(s.GetStatus())
		if now != jumps || runs && (ended || !sameAttempt(was, s)) {
			return true
		}
		ended = ended || s != nil && !runs
		if !wait(ctx, changed) {
			return false
		}
	}
}

// sameAttempt reports whether two states of a stage are of one attempt.
func sameAttempt(a, b *deckv1.Stage) bool {
	return a.GetRetries() == b.GetRetries() && a.GetStartedAt().AsTime().Equal(b.GetStartedAt().AsTime())
}

func wait(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// read reads the blocks after the one with an index until the log is complete. It returns the index of the last.
func (l *stageLog) read(ctx context.Context, client Deck, last int64) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := client.WatchStageLog(ctx,
		&deckv1.WatchStageLogRequest{DeploymentId: l.id.deployment, StageId: l.id.stage},
		grpc.MaxCallRecvMsgSize(maxReceived))
	if err != nil {
		cancel()
		return last, err
	}
	received, failed := make(chan *deckv1.WatchStageLogResponse, 4), make(chan error, 1)
	go receiveLog(ctx, stream, received, failed)
	defer func() {
		cancel()
		for range received { // until the receiver has ended
		}
	}()
	return l.follow(received, failed, last)
}

func receiveLog(ctx context.Context, stream grpc.ServerStreamingClient[deckv1.WatchStageLogResponse],
	received chan<- *deckv1.WatchStageLogResponse, failed chan<- error) {
	defer close(received)
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			select {
			case received <- response:
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		failed <- err
		return
	}
}

// follow takes lines, and shows them: at once after a pause, else when they were gathered.
func (l *stageLog) follow(received <-chan *deckv1.WatchStageLogResponse, failed <-chan error,
	last int64) (int64, error) {
	var due <-chan time.Time
	time := l.hub.options.Clock
	sent, begun := time.Now().Add(-gatherTime), time.After(beginTime)
	for {
		select {
		case response, open := <-received:
			if !open {
				err := <-failed
				l.show(err == nil)
				return last, err
			}
			last = l.take(response, last)
			if wait := gatherTime - time.Now().Sub(sent); wait > 0 {
				if due == nil {
					due = time.After(wait)
				}
				continue
			}
		case <-due:
		case <-begun:
			l.answer()
		}
		due, sent = nil, time.Now()
		l.show(false)
	}
}

// beginTime is how long the beginning of a log may take until streams get what has come of it: older environments do
// not say when they have sent all that there is.
const beginTime = time.Second

// answer lets streams begin with what has come.
func (l *stageLog) answer() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.come = true
}

// take puts the lines of new blocks into the buffer.
func (l *stageLog) take(response *deckv1.WatchStageLogResponse, last int64) int64 {
	var fresh []logbuf.Line
	for _, block := range response.GetBlocks() {
		if block.GetIndex() <= last {
			continue // it is known from before the connection was lost
		}
		last = block.GetIndex()
		fresh = logbuf.AppendBlock(fresh, block)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range fresh {
		fresh[i].Raw = "" // nothing here shows it
	}
	l.buffer.Append(fresh...)
	l.truncated = l.truncated || response.GetTruncated()
	l.complete = response.GetCompleted()
	l.come = l.come || response.GetLast() || response.GetCompleted()
	l.trouble = ""
	return last
}

// show lets streams send what has come.
func (l *stageLog) show(complete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.complete = l.complete || complete
	l.answered = l.answered || l.complete || l.come
	from := l.shown
	_, l.shown = l.buffer.Span()
	if fresh := l.shown - from; fresh > 0 && fresh <= partLines {
		if encoded, next := l.encode(from, l.shown, false, partBytes); next == l.shown {
			l.parts = append(l.parts[max(0, len(l.parts)-maxParts+1):], logPart{from, next, l.state(), encoded})
		}
	}
	l.wake()
}

func (l *stageLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *stageLog) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = text.Line(status.Convert(err).Message())
	l.wake()
}

// restart begins with an empty log.
func (l *stageLog) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.buffer.Close() // what was in its file is void
	l.buffer = logbuf.New(logLimits)
	l.generation++
	l.shown, l.parts, l.trouble = 0, nil, ""
	l.complete, l.truncated, l.answered, l.come = false, false, false, false
	l.wake()
}

func (l *stageLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.buffer.Close() // its file has no name any more
}
