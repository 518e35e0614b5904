// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// logMsg says that a log has grown, ended, or cannot be read. Its lines are in the buffer already.
type logMsg struct {
	log                 *stageLog
	complete, truncated bool
	err                 error
}

// retryLogMsg says that it is time to read a log again that could not be read.
type retryLogMsg struct{ log *stageLog }

// logRetry is the wait before reading a log again.
const logRetry = 2 * time.Second

// stageLog reads the log of one stage into a buffer. It owns the buffer and closes it.
type stageLog struct {
	key logKey
	// attempt is the number of retries of the stage when reading began; of a time line that of all of them.
	attempt int32
	buffer  *logbuf.Buffer
	ctx     context.Context
	cancel  context.CancelFunc
	// after is the clock's.
	after func(time.Duration) <-chan time.Time
	// timeline has the stages of a merged log; nil for the log of one stage alone.
	timeline *timeline
}

// logKey says what is in a log: one stage, or with the source all stages of a deployment.
type logKey struct {
	deployment, stage string
	source            logSource
}

func newStageLog(ctx context.Context, after func(time.Duration) <-chan time.Time, key logKey,
	attempt int32) *stageLog {
	ctx, cancel := context.WithCancel(ctx)
	return &stageLog{
		key: key, attempt: attempt,
		buffer: logbuf.New(logbuf.Limits{}), ctx: ctx, cancel: cancel, after: after,
	}
}

// run reads until the log is complete, then keeps the buffer until cancel.
func (l *stageLog) run(client deckv1.DeckServiceClient, send func(tea.Msg)) error {
	grown := make(chan logMsg, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.pass(grown, send)
	}()
	read := l.read
	if l.timeline != nil {
		read = l.readTimeline
	}
	last := read(client, grown)
	if l.ctx.Err() == nil {
		select {
		case grown <- last:
		case <-l.ctx.Done():
		}
	}
	close(grown)
	<-done
	<-l.ctx.Done()
	return l.buffer.Close()
}

const (
	// batch is the least time between two messages of a log: 30 a second. longestBatch is that of a log that grows all
	// the time, because each message draws most of the log again.
	batch        = time.Second / 30
	longestBatch = time.Second / 4
)

// pass sends news until grown is closed. Any number of blocks may come in between two messages.
func (l *stageLog) pass(grown <-chan logMsg, send func(tea.Msg)) {
	pause := batch
	for msg := range grown {
		send(msg)
		select {
		case <-l.after(pause):
		case <-l.ctx.Done():
		}
		if len(grown) == 0 {
			pause = batch
		} else {
			pause = min(2*pause, longestBatch)
		}
	}
}

func (l *stageLog) read(client deckv1.DeckServiceClient, grown chan<- logMsg) logMsg {
	msg := logMsg{log: l}
	var fresh []logbuf.Line
	stream, err := l.key.watch(l.ctx, client)
	if err != nil {
		msg.err = err
		return msg
	}
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			msg.complete = true
			return msg
		}
		if err != nil {
			msg.err = err
			return msg
		}
		for _, block := range response.GetBlocks() {
			if fresh = logbuf.AppendBlock(fresh, block); len(fresh) >= appendAtOnce {
				fresh = l.keep(fresh)
			}
		}
		fresh = l.keep(fresh)
		msg.complete = msg.complete || response.GetCompleted()
		msg.truncated = msg.truncated || response.GetTruncated()
		select {
		case grown <- msg:
		default: // one is waiting already; it speaks of all lines
		}
	}
}

// watch asks for the log of a stage or a pod.
func (k logKey) watch(ctx context.Context,
	client deckv1.DeckServiceClient) (grpc.ServerStreamingClient[deckv1.WatchStageLogResponse], error) {
	if pod := k.source.pod; pod != (podOf{}) {
		return client.WatchPodLog(ctx, &deckv1.WatchPodLogRequest{ApplicationId: pod.app, ResourceId: pod.id},
			grpc.MaxCallRecvMsgSize(maxMessage))
	}
	return client.WatchStageLog(ctx, &deckv1.WatchStageLogRequest{DeploymentId: k.deployment, StageId: k.stage},
		grpc.MaxCallRecvMsgSize(maxMessage))
}

// appendAtOnce is about how many lines go to the buffer at once, and how many are remembered to be used again.
const appendAtOnce = 1024

// keep puts lines into the buffer. It returns an empty list to be used again.
func (l *stageLog) keep(lines []logbuf.Line) []logbuf.Line {
	l.buffer.Append(lines...)
	clear(lines) // their text is in the buffer
	if cap(lines) > 2*appendAtOnce {
		return nil
	}
	return lines[:0]
}
