// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

const (
	// maxQueueBytes bounds what waits to be sent; a writer waits when it is full.
	maxQueueBytes = 4 << 20
	// maxBatchBytes bounds the new blocks of one message.
	maxBatchBytes = 512 << 10
	// maxCheckpointBytes bounds what has been sent since the last checkpoint. Together with a batch it
	// has to fit into one gRPC message of 4 MiB, because a checkpoint repeats it.
	maxCheckpointBytes = 1 << 20
	// checkpointEvery is how often piped gets everything again to store it (PipeCD v1: 2 minutes).
	checkpointEvery = 2 * time.Minute
	// crowdEntries is how many entries wait before others are joined.
	crowdEntries = 256
	// blockOverhead is added to a block's text as its size in a message, rounded up.
	blockOverhead = 32
	// callTimeout bounds one log call.
	callTimeout = 10 * time.Second
	// giveUpAfter bounds how long the end of a stage waits for a piped that takes no log.
	giveUpAfter = 10 * time.Second
	maxBackoff  = 2 * time.Second
)

// entry is a piece of log that waits to be sent.
type entry struct {
	severity  model.LogSeverity
	text      []byte
	createdAt int64
	// joinable entries that follow each other become one block while they wait.
	joinable bool
	// sequence is the number of the entry, or of the last one that was joined to it.
	sequence int64
	// writer is the number of the LineWriter that the text comes from, 0 for none.
	writer int64
}

func (e entry) size() int { return len(e.text) + blockOverhead }

// logSender sends the log of one stage. Whatever has been queued while a call was under way goes with the
// next one, so nothing waits for a clock.
type logSender struct {
	piped        pluginservice.PluginServiceClient
	journal      *logJournal
	kept         *journalStage // nil without a journal
	deploymentID string
	stageID      string
	retriedCount int32
	logger       *slog.Logger

	// ctx ends when the sender has to give up.
	ctx    context.Context
	giveUp context.CancelFunc
	done   chan struct{}

	mu     sync.Mutex
	change *sync.Cond // something was queued or taken, or the sender was closed or gave up
	queue  []entry
	queued int // bytes
	closed bool
	lost   int // entries that piped did not take
	// sequence is the number of the last entry, writers the number of LineWriters.
	sequence, writers int64

	// Only the sending goroutine uses the rest.
	nextIndex      int64
	through        int64             // the number of the last entry that was taken from the queue
	since          []*model.LogBlock // sent since the last checkpoint
	sinceBytes     int
	lastCheckpoint time.Time
}

// startLogSender starts the goroutine that close waits for.
//
// Block indexes start at the clock's microseconds: later attempts of the stage never meet an index that
// the control plane has seen (it drops those), and the numbers stay exact in JavaScript.
func startLogSender(piped pluginservice.PluginServiceClient, journal *logJournal, deploymentID string,
	stage *model.PipelineStage, logger *slog.Logger) *logSender {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now()
	s := &logSender{
		piped: piped, journal: journal, kept: journal.stage(), deploymentID: deploymentID, stageID: stage.GetId(),
		retriedCount: stage.GetRetriedCount(),
		logger:       logger, ctx: ctx, giveUp: cancel, done: make(chan struct{}),
		nextIndex: now.UnixMicro(), lastCheckpoint: now,
	}
	s.change = sync.NewCond(&s.mu)
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.change.Broadcast()
	})
	go s.run()
	return s
}

// push queues an entry; it waits while the queue is full and drops the entry when the sender gave up.
func (s *logSender) push(e entry) {
	e.createdAt = time.Now().Unix()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.queued > 0 && s.queued+e.size() > maxQueueBytes && s.ctx.Err() == nil {
		s.change.Wait()
	}
	if s.closed || s.ctx.Err() != nil {
		s.lost++
		return
	}
	s.sequence++
	e.sequence = s.sequence
	s.note(e)
	switch last := len(s.queue) - 1; {
	case last >= 0 && joins(s.queue[last], e):
		s.queue[last].text = append(s.queue[last].text, e.text...)
		s.queue[last].sequence = e.sequence
		s.queued += len(e.text)
	case s.crowd(e):
	default:
		s.queue = append(s.queue, e)
		s.queued += e.size()
	}
	s.change.Broadcast()
}

// note has piped know an entry, whatever becomes of this process.
func (s *logSender) note(e entry) {
	if s.journal == nil {
		return
	}
	record := s.record()
	record.Sequence, record.Severity, record.Text, record.CreatedAt, record.Writer = e.sequence, e.severity, string(e.text), e.createdAt, e.writer
	s.journal.write(s.kept, record)
}

// noteStart has piped know the start of a line that has not ended.
func (s *logSender) noteStart(writer int64, text []byte) {
	if s.journal == nil {
		return
	}
	record := s.record()
	record.Text, record.CreatedAt, record.Writer = string(bytes.ToValidUTF8(text,
		[]byte("\uFFFD"))), time.Now().Unix(), writer
	s.journal.write(s.kept, record)
}

// noteDone has piped forget what it knows of this log.
func (s *logSender) noteDone() {
	if s.journal == nil {
		return
	}
	record := s.record()
	record.Done = true
	s.journal.done(s.kept, record)
}

func (s *logSender) record() *agentv1.StageLogRecord {
	return &agentv1.StageLogRecord{DeploymentId: s.deploymentID, StageId: s.stageID, RetriedCount: s.retriedCount}
}

// newWriter numbers a LineWriter.
func (s *logSender) newWriter() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers++
	return s.writers
}

// joins is whether b may become part of a: whole lines of output of the same second.
func joins(a, b entry) bool {
	return a.joinable && b.joinable && a.severity == b.severity && a.createdAt == b.createdAt &&
		len(a.text)+len(b.text) <= maxBlockBytes && a.text[len(a.text)-1] == '\n'
}

// crowd joins entries that are written by the thousand: a block for each costs piped and the control plane much
// more than its line. The text shown is the same.
func (s *logSender) crowd(b entry) bool {
	if len(s.queue) < crowdEntries || b.joinable {
		return false
	}
	a := &s.queue[len(s.queue)-1]
	if a.joinable || a.severity != b.severity || a.createdAt != b.createdAt ||
		len(a.text)+1+len(b.text) > maxBlockBytes {
		return false
	}
	before := len(a.text)
	if a.text[before-1] != '\n' {
		a.text = append(a.text, '\n')
	}
	a.text = append(a.text, b.text...)
	a.sequence = b.sequence
	s.queued += len(a.text) - before
	return true
}

// limit bounds how long the sender may go on from now.
func (s *logSender) limit(d time.Duration) (stop func()) {
	timer := time.AfterFunc(d, s.giveUp)
	return func() { timer.Stop() }
}

// close sends what is left together with the mark of completion, at most for giveUpAfter.
func (s *logSender) close() {
	defer s.giveUp()
	defer s.limit(giveUpAfter)()
	s.mu.Lock()
	s.closed = true
	s.change.Broadcast()
	s.mu.Unlock()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == 0 {
		s.noteDone()
	} else {
		s.journal.abandon(s.kept)
		s.logger.Warn("piped did not take the whole stage log", "deployment", s.deploymentID, "stage", s.stageID,
			"lost_entries", s.lost)
	}
}

func (s *logSender) run() {
	defer close(s.done)
	for {
		batch, bytes, last := s.take()
		if s.ctx.Err() != nil {
			s.abandon(len(batch))
			return
		}
		if last || s.sinceBytes+bytes > maxCheckpointBytes || time.Since(s.lastCheckpoint) > checkpointEvery {
			s.checkpoint(append(s.since, batch...), last)
			if last {
				return
			}
			continue
		}
		s.since = append(s.since, batch...)
		s.sinceBytes += bytes
		s.send(func(ctx context.Context) error {
			_, err := s.piped.ReportStageLogs(ctx, &pluginservice.ReportStageLogsRequest{
				DeploymentId: s.deploymentID, StageId: s.stageID, RetriedCount: s.retriedCount, Blocks: batch,
			})
			return err
		}) // what is refused here comes again with the checkpoint
	}
}

// take waits for entries and turns them into blocks; last is true when there will be no more.
func (s *logSender) take() (batch []*model.LogBlock, bytes int, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed && s.ctx.Err() == nil {
		s.change.Wait()
	}
	n := 0
	for n < len(s.queue) && (n == 0 || bytes+s.queue[n].size() <= maxBatchBytes) {
		e := s.queue[n]
		batch = append(batch, s.block(e.severity, string(e.text), e.createdAt))
		bytes += e.size()
		s.through = e.sequence
		n++
	}
	s.queue = s.queue[n:]
	if len(s.queue) == 0 {
		s.queue = nil // lets the array go
	}
	s.queued -= bytes
	s.change.Broadcast()
	return batch, bytes, s.closed && len(s.queue) == 0
}

func (s *logSender) block(severity model.LogSeverity, text string, createdAt int64) *model.LogBlock {
	block := &model.LogBlock{Index: s.nextIndex, Log: text, Severity: severity, CreatedAt: createdAt}
	s.nextIndex++
	return block
}

// checkpoint has the control plane store blocks. When piped refuses them for good, a note takes their
// place, so that no line is missing in silence.
func (s *logSender) checkpoint(blocks []*model.LogBlock, completed bool) {
	report := func(blocks []*model.LogBlock) error {
		return s.send(func(ctx context.Context) error {
			_, err := s.piped.ReportStageLogsFromLastCheckpoint(ctx,
				&pluginservice.ReportStageLogsFromLastCheckpointRequest{
					DeploymentId: s.deploymentID, StageId: s.stageID, RetriedCount: s.retriedCount, Blocks: blocks,
					Completed: completed,
				})
			return err
		})
	}
	if err := report(blocks); err != nil {
		s.mu.Lock()
		s.lost += len(blocks)
		s.mu.Unlock()
		note := fmt.Sprintf("%d entries of this log are missing here, piped refused them: %v", len(blocks), err)
		_ = report([]*model.LogBlock{s.block(model.LogSeverity_ERROR, note, time.Now().Unix())})
	}
	s.since, s.sinceBytes, s.lastCheckpoint = nil, 0, time.Now()
}

// send repeats a call until it succeeds, is refused for good, or the sender has to give up.
func (s *logSender) send(call func(context.Context) error) error {
	for backoff := 20 * time.Millisecond; ; backoff = min(2*backoff, maxBackoff) {
		ctx, cancel := context.WithTimeout(s.ctx, callTimeout)
		if s.journal != nil {
			ctx = metadata.AppendToOutgoingContext(ctx, sequenceKey, strconv.FormatInt(s.through, 10))
		}
		err := call(ctx)
		cancel()
		if err == nil || refused(err) {
			s.journal.reported(s.kept, s.through)
			return err
		}
		pause(s.ctx, backoff)
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

// abandon forgets what is queued, besides entries that were taken from the queue.
func (s *logSender) abandon(entries int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += entries + len(s.queue)
	s.queue, s.queued = nil, 0
	s.change.Broadcast()
}
