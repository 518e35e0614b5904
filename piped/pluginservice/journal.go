// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

const (
	// journalHeader is the size of the header of the memory that the SDK fills; secondHalf marks the half in use, and
	// recordPrefix is the size of what precedes a record for the SDK's own use. See logJournal there.
	journalHeader = 4096
	secondHalf    = 1 << 63
	recordPrefix  = 24
	// JournalSize is the size in bytes of the memory that a plugin process shares with piped: two halves, of which one
	// holds what its stages have written and not reported. The SDK queues at most 4 MiB for a stage. The system
	// provides only what is written to.
	JournalSize = journalHeader + 2<<24
	// maxStages bounds the attempts at stages that are known of one process.
	maxStages = 1000
	// maxBlock bounds the text of the blocks that are made of entries; see the SDK for the reason.
	maxBlock = 10 << 10
	// reportTimeout bounds a report of log blocks that goes on without its caller.
	reportTimeout = 10 * time.Second
)

// journal knows what one plugin process has written to the logs of its stages and has not reported yet.
type journal struct {
	server *Server
	plugin string
	memory *os.File
	calls  sync.WaitGroup

	mu     sync.Mutex
	stages map[stageKey]*stageJournal
	order  []stageKey // of stages, oldest first
	// unknown counts the records of stages beyond maxStages.
	unknown int
	// finished is set when the process is gone.
	finished bool
}

type stageKey struct {
	deployment, stage string
	attempt           int32
}

// stageJournal is what is known of the log of one attempt at a stage.
type stageJournal struct {
	// entries were written and not reported. They are read when the process is gone, as are starts.
	entries []*agentv1.StageLogRecord
	// through is the number of the last entry that was reported.
	through int64
	// starts are the lines that have not ended, by writer, in the order of writers.
	starts  map[int64]*agentv1.StageLogRecord
	writers []int64
	// since holds the blocks since the last checkpoint, which a control plane of PipeCD keeps only with the next one.
	since     []*model.LogBlock
	lastIndex int64
	completed bool
	// leftOut is the number of the last entry for which the memory had no room; 0 for none.
	leftOut int64
}

func newJournal(s *Server, plugin string, memory *os.File) *journal {
	return &journal{server: s, plugin: plugin, memory: memory, stages: map[stageKey]*stageJournal{}}
}

// stage returns nil when there are too many that are not completed. It is called with mu held.
func (j *journal) stage(key stageKey) *stageJournal {
	if stage := j.stages[key]; stage != nil {
		return stage
	}
	if len(j.stages) >= maxStages {
		oldest := slices.IndexFunc(j.order, func(k stageKey) bool { return j.stages[k].completed })
		if oldest < 0 {
			return nil
		}
		delete(j.stages, j.order[oldest])
		j.order = slices.Delete(j.order, oldest, oldest+1)
	}
	stage := &stageJournal{starts: map[int64]*agentv1.StageLogRecord{}}
	j.stages[key] = stage
	j.order = append(j.order, key)
	return stage
}

// read takes the records of a process that is gone.
func (j *journal) read(memory io.ReaderAt) error {
	var header [8]byte
	if _, err := memory.ReadAt(header[:], 0); err != nil {
		return err
	}
	word := binary.NativeEndian.Uint64(header[:])
	start, length := int64(journalHeader), int64(word&^secondHalf)
	if length < 0 || length > (JournalSize-journalHeader)/2 {
		return errors.New("the memory that it shared holds something else")
	}
	if word&secondHalf != 0 {
		start += (JournalSize - journalHeader) / 2
	}
	records := make([]byte, length)
	if _, err := memory.ReadAt(records, start); err != nil {
		return err
	}
	for len(records) > 0 {
		record, rest, err := cutRecord(records)
		if err != nil {
			return err
		}
		j.take(record)
		records = rest
	}
	return nil
}

func cutRecord(records []byte) (*agentv1.StageLogRecord, []byte, error) {
	if len(records) < recordPrefix {
		return nil, nil, io.ErrUnexpectedEOF
	}
	size := int64(binary.NativeEndian.Uint32(records))
	if records = records[recordPrefix:]; size > int64(len(records)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	record := &agentv1.StageLogRecord{}
	err := proto.Unmarshal(records[:size], record)
	return record, records[size:], err
}

func (j *journal) take(record *agentv1.StageLogRecord) {
	stage := j.stage(stageKey{record.GetDeploymentId(), record.GetStageId(), record.GetRetriedCount()})
	switch {
	case stage == nil:
		j.unknown++
	case stage.completed:
	case record.GetDone():
		stage.completed = true
	default:
		stage.take(record)
	}
}

func (s *stageJournal) take(record *agentv1.StageLogRecord) {
	writer := record.GetWriter()
	if record.GetSequence() < 0 {
		s.leftOut = max(s.leftOut, int64(record.GetLeftOutThrough()))
		return
	}
	if record.GetSequence() == 0 {
		if s.starts[writer] == nil {
			s.writers = append(s.writers, writer)
		}
		s.starts[writer] = record
		return
	}
	s.starts[writer] = nil
	if record.GetSequence() > s.through {
		s.entries = append(s.entries, record)
	}
}

// blockReport is a report of log blocks that is under way.
type blockReport struct {
	key stageKey
	// through is the number of the last entry that the blocks hold.
	through int64
	blocks  []*model.LogBlock
	// checkpoint is set when blocks hold everything since the last checkpoint, completed when they are the last ones.
	checkpoint, completed bool
	// send makes the report.
	send func(context.Context) error
}

// report makes a report. It goes on when the process ends meanwhile: so it is known what was reported.
func (j *journal) report(ctx context.Context, r blockReport) error {
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
	err := r.send(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	if stage := j.stage(r.key); stage != nil {
		stage.reported(r, err)
	}
	return err
}

// reported takes the outcome of a report.
func (s *stageJournal) reported(r blockReport, err error) {
	for _, block := range r.blocks {
		s.lastIndex = max(s.lastIndex, block.GetIndex())
	}
	if err != nil && r.checkpoint || temporary(err) {
		return
	}
	s.through = max(s.through, r.through)
	switch {
	case r.completed && err == nil:
		*s = stageJournal{through: s.through, completed: true}
	case r.checkpoint:
		s.since = nil
	default:
		s.since = append(s.since, r.blocks...) // also what was refused: it comes again with the checkpoint
	}
}

// finish reports what the process has written and not reported. It is called when the process is gone. It does not
// complete the logs, because the scheduler adds how the process ended, and a completed log takes no more.
func (j *journal) finish() {
	j.mu.Lock()
	if j.finished {
		j.mu.Unlock()
		return
	}
	j.finished = true
	j.mu.Unlock()
	j.calls.Wait() // each has its own limit; nothing else uses the journal after them
	err := j.read(j.memory)
	_ = j.memory.Close()
	if j.unknown > 0 {
		j.server.options.Logger.Error(
			"a plugin that has died worked on too many stages; the last lines of some are lost",
			"plugin", j.plugin, "limit", maxStages, "lost", j.unknown,
		)
	}
	if err != nil {
		j.server.options.Logger.Error(
			"cannot read what a plugin that has died wrote to stage logs", "plugin", j.plugin, "error", err,
		)
	}
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	for _, key := range j.order {
		stage := j.stages[key]
		blocks := stage.rest()
		if stage.completed || len(blocks) == 0 || !j.server.holds(j.plugin, key.deployment, key.stage) {
			continue
		}
		_, err := j.server.ReportStageLogsFromLastCheckpoint(
			ctx,
			&pluginservice.ReportStageLogsFromLastCheckpointRequest{
				DeploymentId: key.deployment, StageId: key.stage, RetriedCount: key.attempt, Blocks: blocks,
			},
		)
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
		if last := len(blocks) - 1; last >= len(
			s.since,
		) && blocks[last].GetSeverity() == severity && blocks[last].GetCreatedAt() == createdAt &&
			len(blocks[last].GetLog())+1+len(text) <= maxBlock {
			blocks[last].Log = strings.TrimSuffix(blocks[last].GetLog(), "\n") + "\n" + text
			return
		}
		s.lastIndex++
		blocks = append(
			blocks, &model.LogBlock{Index: s.lastIndex, Log: text, Severity: severity, CreatedAt: createdAt},
		)
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
	if n := s.missing(); n > 0 {
		text := fmt.Sprintf(
			"Entries of this log are missing: %d. When its plugin ended, more waited to be reported than the memory "+
				"for it holds (%d MiB)", n, (JournalSize-journalHeader)/2>>20,
		)
		add(model.LogSeverity_ERROR, text, time.Now().Unix())
	}
	return blocks
}

// missing is the number of entries that were neither reported nor kept. The plugin numbers all of them.
func (s *stageJournal) missing() int64 {
	last := s.leftOut
	for _, entry := range s.entries {
		last = max(last, entry.GetSequence())
	}
	return last - s.through - int64(len(s.entries))
}
