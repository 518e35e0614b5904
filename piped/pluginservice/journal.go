// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

const (
	// maxRecord bounds one record of a journal in bytes; the SDK writes entries of at most 10 KiB.
	maxRecord = 256 << 10
	// maxJournal bounds what is kept of one stage in bytes; the SDK queues at most 4 MiB.
	maxJournal = 8 << 20
	// maxJournals bounds the stages that are kept for one process.
	maxJournals = 1000
	// maxBlock bounds the text of the blocks that are made of entries; see the SDK for the reason.
	maxBlock = 10 << 10
	// lastRead is how long an ended process may hold its journal open through something that it has started.
	lastRead = time.Second
	// reportTimeout bounds a report of log blocks that goes on without its caller.
	reportTimeout = 10 * time.Second
)

// journal knows what one plugin process has written to the logs of its stages and has not reported yet.
type journal struct {
	server *Server
	plugin string
	pipe   *os.File
	read   chan struct{} // closed when the pipe was read to its end
	calls  sync.WaitGroup

	mu     sync.Mutex
	stages map[stageKey]*stageJournal
	order  []stageKey
	// finished is set when the process is gone and its logs were completed.
	finished bool
}

type stageKey struct {
	deployment, stage string
	attempt           int32
}

// stageJournal is what is known of the log of one attempt at a stage.
type stageJournal struct {
	// entries were written and not reported; bytes is their size, dropped how many did not fit.
	entries        []*agentv1.StageLogRecord
	bytes, dropped int
	// through is the number of the last entry that was reported.
	through int64
	// starts are the lines that have not ended, by writer, in the order of writers.
	starts  map[int64]*agentv1.StageLogRecord
	writers []int64
	// since holds the blocks since the last checkpoint, which a control plane of PipeCD keeps only with the next one.
	since     []*model.LogBlock
	lastIndex int64
	completed bool
}

func newJournal(s *Server, plugin string, pipe *os.File) *journal {
	j := &journal{server: s, plugin: plugin, pipe: pipe, read: make(chan struct{}), stages: map[stageKey]*stageJournal{}}
	go j.run()
	return j
}

// run reads all records: a plugin waits when the pipe is full.
func (j *journal) run() {
	defer close(j.read)
	reader := bufio.NewReaderSize(j.pipe, 64<<10)
	for {
		record := &agentv1.StageLogRecord{}
		if err := (protodelim.UnmarshalOptions{MaxSize: maxRecord}).UnmarshalFrom(reader, record); err != nil {
			_, _ = io.Copy(io.Discard, reader) // of a plugin that writes something else
			return
		}
		j.take(record)
	}
}

func (j *journal) take(record *agentv1.StageLogRecord) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := stageKey{record.GetDeploymentId(), record.GetStageId(), record.GetRetriedCount()}
	if record.GetDone() {
		delete(j.stages, key)
		return
	}
	if stage := j.stage(key); stage != nil {
		stage.take(record)
	}
}

// stage returns nil when there are too many. It is called with mu held.
func (j *journal) stage(key stageKey) *stageJournal {
	stage := j.stages[key]
	if stage == nil && len(j.stages) < maxJournals {
		stage = &stageJournal{starts: map[int64]*agentv1.StageLogRecord{}}
		j.stages[key] = stage
		j.order = append(j.order, key)
		if len(j.order) > 2*maxJournals {
			j.forget()
		}
	}
	return stage
}

// forget removes the stages that are done from the order.
func (j *journal) forget() {
	kept := j.order[:0]
	seen := map[stageKey]bool{}
	for _, key := range j.order {
		if j.stages[key] != nil && !seen[key] {
			kept, seen[key] = append(kept, key), true
		}
	}
	j.order = kept
}

func (s *stageJournal) take(record *agentv1.StageLogRecord) {
	writer := record.GetWriter()
	if record.GetSequence() == 0 {
		if s.starts[writer] == nil && len(s.writers) < maxJournals {
			s.writers = append(s.writers, writer)
		}
		s.starts[writer] = record
		return
	}
	s.starts[writer] = nil
	if record.GetSequence() <= s.through {
		return // it was reported before it was read here
	}
	s.entries = append(s.entries, record)
	s.bytes += len(record.GetText())
	for s.bytes > maxJournal {
		s.bytes -= len(s.entries[0].GetText())
		s.entries = s.entries[1:]
		s.dropped++
	}
}

// report makes a call that holds the entries up to a number. The call goes on when the process ends meanwhile: so it is
// known what was reported. Checkpoint is set when blocks hold everything since the last one.
func (j *journal) report(ctx context.Context, key stageKey, through int64, blocks []*model.LogBlock, checkpoint, completed bool, call func(context.Context) error) error {
	j.mu.Lock()
	if j.finished {
		j.mu.Unlock()
		return context.Canceled
	}
	j.calls.Add(1)
	j.mu.Unlock()
	defer j.calls.Done()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTimeout)
	defer cancel()
	err := call(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	stage := j.stage(key)
	if stage == nil {
		return err
	}
	for _, block := range blocks {
		stage.lastIndex = max(stage.lastIndex, block.GetIndex())
	}
	if err != nil && checkpoint || temporary(err) {
		return err
	}
	stage.reported(through)
	if checkpoint {
		stage.since = nil
	} else {
		stage.since = append(stage.since, blocks...) // also what was refused: it comes again with the checkpoint
	}
	stage.completed = stage.completed || completed
	return err
}

func (s *stageJournal) reported(through int64) {
	s.through = max(s.through, through)
	for len(s.entries) > 0 && s.entries[0].GetSequence() <= s.through {
		s.bytes -= len(s.entries[0].GetText())
		s.entries = s.entries[1:]
	}
	if len(s.entries) == 0 {
		s.entries = nil // lets the array go
	}
}

// finish reports what the process has written and not reported. It is called when the process is gone. It does not
// complete the logs, because the scheduler adds how the process ended, and a completed log takes no more.
func (j *journal) finish() {
	_ = j.pipe.SetReadDeadline(time.Now().Add(lastRead))
	<-j.read
	_ = j.pipe.Close()
	j.mu.Lock()
	if j.finished {
		j.mu.Unlock()
		return
	}
	j.finished = true
	j.forget()
	j.mu.Unlock()
	j.calls.Wait() // each has its own limit
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	for _, key := range j.order {
		stage := j.stages[key]
		blocks := stage.rest()
		if stage.completed || len(blocks) == 0 || !j.server.holds(j.plugin, key.deployment, key.stage) {
			continue
		}
		_, err := j.server.ReportStageLogsFromLastCheckpoint(ctx, &pluginservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: key.deployment, StageId: key.stage, RetriedCount: key.attempt, Blocks: blocks,
		})
		if err != nil {
			j.server.options.Logger.Error("the last lines of a plugin that has died are lost", "plugin", j.plugin,
				"deployment", key.deployment, "stage", key.stage, "error", err)
		}
	}
}

// rest are the blocks since the last checkpoint and those of what was not reported.
func (s *stageJournal) rest() []*model.LogBlock {
	if s.lastIndex == 0 {
		s.lastIndex = time.Now().UnixMicro()
	}
	blocks := s.since
	add := func(severity model.LogSeverity, text string, createdAt int64) {
		if last := len(blocks) - 1; last >= len(s.since) && blocks[last].GetSeverity() == severity && blocks[last].GetCreatedAt() == createdAt &&
			len(blocks[last].GetLog())+1+len(text) <= maxBlock {
			blocks[last].Log = strings.TrimSuffix(blocks[last].GetLog(), "\n") + "\n" + text
			return
		}
		s.lastIndex++
		blocks = append(blocks, &model.LogBlock{Index: s.lastIndex, Log: text, Severity: severity, CreatedAt: createdAt})
	}
	if s.dropped > 0 {
		add(model.LogSeverity_ERROR, fmt.Sprintf("%d entries of this log are missing here: the plugin wrote faster than piped could report", s.dropped), time.Now().Unix())
	}
	for _, entry := range s.entries {
		add(entry.GetSeverity(), entry.GetText(), entry.GetCreatedAt())
	}
	for _, writer := range s.writers {
		if start := s.starts[writer]; start != nil {
			add(start.GetSeverity(), start.GetText(), start.GetCreatedAt())
			s.starts[writer] = nil
		}
	}
	return blocks
}
