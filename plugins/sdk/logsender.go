// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

const (
	// maxCheckpointBytes bounds what has been sent since the last checkpoint. Together with a batch it
	// has to fit into one gRPC message of 4 MiB, because a checkpoint repeats it.
	maxCheckpointBytes = 1 << 20
	// checkpointEvery is how often piped gets everything again to store it (PipeCD v1: 2 minutes).
	checkpointEvery = 2 * time.Minute
	// callTimeout bounds one log call.
	callTimeout = 10 * time.Second
	// giveUpAfter bounds how long the end of a stage waits for a piped that takes no log.
	giveUpAfter  = 10 * time.Second
	firstBackoff = 20 * time.Millisecond
	maxBackoff   = 2 * time.Second
)

// logSender sends the log of one stage. Whatever has been queued while a call was under way goes with the
// next one, so nothing waits for a clock.
type logSender struct {
	options logOptions
	queue   *logQueue
	records *logRecords

	// ctx ends when the sender has to give up.
	ctx    context.Context
	giveUp context.CancelFunc
	done   chan struct{}
	// taken is called when piped has taken something; nil while nothing limits the sender.
	taken atomic.Pointer[func()]

	// Only the sending goroutine uses the rest.
	nextIndex int64
	through   int64 // the number of the last entry that was taken from the queue
	since     sentBlocks
}

// logOptions are what a logSender needs.
type logOptions struct {
	piped   pluginservice.PluginServiceClient
	journal *logJournal // nil to keep nothing for a piped that outlives this process
	id      logID
	logger  *slog.Logger
	now     func() time.Time
	// pause returns after a time, or when ctx ends.
	pause func(ctx context.Context, d time.Duration)
}

// sentBlocks are the blocks since the last checkpoint, which the next one repeats.
type sentBlocks struct {
	blocks     []*model.LogBlock
	bytes      int
	checkpoint time.Time // of the last one
}

// due reports whether blocks of so many bytes call for a checkpoint.
func (s sentBlocks) due(bytes int, now time.Time) bool {
	return s.bytes+bytes > maxCheckpointBytes || now.Sub(s.checkpoint) > checkpointEvery
}

// startLogSender starts the goroutine that close waits for.
//
// Block indexes start at the clock's microseconds: later attempts of the stage never meet an index that
// the control plane has seen (it drops those), and the numbers stay exact in JavaScript.
func startLogSender(options logOptions) *logSender {
	ctx, cancel := context.WithCancel(context.Background())
	now := options.now()
	records := newLogRecords(options.journal, options.id)
	s := &logSender{
		options: options, queue: newLogQueue(records, options.now), records: records,
		ctx: ctx, giveUp: cancel, done: make(chan struct{}),
		nextIndex: now.UnixMicro(), since: sentBlocks{checkpoint: now},
	}
	context.AfterFunc(ctx, s.queue.abandon)
	go s.run()
	return s
}

// limit bounds how long the sender may go on from now while piped takes nothing. The queue is bounded, so that it ends
// as well when piped takes it slowly, such as on a busy machine.
func (s *logSender) limit(d time.Duration) (stop func()) {
	timer := time.AfterFunc(d, s.giveUp)
	again := func() { timer.Reset(d) }
	s.taken.Store(&again)
	return func() { timer.Stop() }
}

// close sends what is left together with the mark of completion, as long as piped takes some of it within giveUpAfter.
func (s *logSender) close() {
	defer s.giveUp()
	defer s.limit(giveUpAfter)()
	s.queue.close()
	<-s.done
	lost := s.queue.losses()
	s.records.end(lost == 0)
	if lost > 0 {
		s.options.logger.Warn("piped did not take the whole stage log", "deployment", s.options.id.deployment,
			"stage", s.options.id.stage, "lost_entries", lost)
	}
}

func (s *logSender) run() {
	defer close(s.done)
	id := s.options.id
	for {
		entries, last := s.queue.take()
		if s.ctx.Err() != nil {
			s.queue.lose(len(entries))
			s.queue.abandon()
			return
		}
		batch, bytes := s.blocks(entries)
		if last || s.since.due(bytes, s.options.now()) {
			s.checkpoint(append(s.since.blocks, batch...), last)
			if last {
				return
			}
			continue
		}
		s.since.blocks = append(s.since.blocks, batch...)
		s.since.bytes += bytes
		_ = s.send(func(ctx context.Context) error {
			_, err := s.options.piped.ReportStageLogs(ctx, &pluginservice.ReportStageLogsRequest{
				DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.retriedCount, Blocks: batch,
			})
			return err
		}) // what is refused here comes again with the checkpoint
	}
}

// blocks turns entries into blocks, and returns their size in a message.
func (s *logSender) blocks(entries []entry) (batch []*model.LogBlock, bytes int) {
	if len(entries) == 0 {
		return nil, 0
	}
	batch = make([]*model.LogBlock, 0, len(entries))
	for _, e := range entries {
		batch = append(batch, s.block(e.severity, string(e.text), e.createdAt))
		bytes += e.size()
		s.through = e.sequence
	}
	return batch, bytes
}

func (s *logSender) block(severity model.LogSeverity, text string, createdAt int64) *model.LogBlock {
	block := &model.LogBlock{Index: s.nextIndex, Log: text, Severity: severity, CreatedAt: createdAt}
	s.nextIndex++
	return block
}

// checkpoint has the control plane store blocks. When piped refuses them for good, a note takes their
// place, so that no line is missing in silence.
func (s *logSender) checkpoint(blocks []*model.LogBlock, completed bool) {
	id := s.options.id
	report := func(blocks []*model.LogBlock) error {
		return s.send(func(ctx context.Context) error {
			_, err := s.options.piped.ReportStageLogsFromLastCheckpoint(ctx,
				&pluginservice.ReportStageLogsFromLastCheckpointRequest{
					DeploymentId: id.deployment, StageId: id.stage, RetriedCount: id.retriedCount, Blocks: blocks,
					Completed: completed,
				})
			return err
		})
	}
	if err := report(blocks); err != nil {
		s.queue.lose(len(blocks))
		note := fmt.Sprintf("%d entries of this log are missing here, piped refused them: %v", len(blocks), err)
		_ = report([]*model.LogBlock{s.block(model.LogSeverity_ERROR, note, s.options.now().Unix())})
	}
	s.since = sentBlocks{checkpoint: s.options.now()}
}

// send repeats a call until it succeeds, is refused for good, or the sender has to give up.
func (s *logSender) send(call func(context.Context) error) error {
	for backoff := firstBackoff; ; backoff = min(2*backoff, maxBackoff) {
		ctx, cancel := context.WithTimeout(s.ctx, callTimeout)
		if s.records != nil {
			ctx = metadata.AppendToOutgoingContext(ctx, sequenceKey, strconv.FormatInt(s.through, 10))
		}
		err := call(ctx)
		cancel()
		if err == nil || refused(err) {
			if taken := s.taken.Load(); taken != nil {
				(*taken)()
			}
			s.records.reported(s.through)
			return err
		}
		s.options.pause(s.ctx, backoff)
		if s.ctx.Err() != nil {
			return err
		}
	}
}

// refused is whether sending the same again cannot help.
func refused(err error) bool {
	switch status.Code(err) {
	case codes.InvalidArgument, codes.ResourceExhausted, codes.PermissionDenied, codes.Unimplemented, codes.OutOfRange:
		return true
	}
	return false
}
