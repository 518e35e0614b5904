// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// LogReport is what piped sends of one stage's log.
type LogReport struct {
	DeploymentID, StageID string
	Attempt               int32
	// The store keeps them; do not change them afterwards.
	Blocks []*model.LogBlock
	// Checkpoint: the blocks go back to the last one that was accepted, not only to the last report.
	Checkpoint bool
	// Completed: the attempt writes no more.
	Completed bool
	// Run is what executes the attempt, where the report says it; nil for other reports.
	Run *agentv1.StageRun
}

// AppendLog adds the blocks that are not there yet. A sealed log takes no more, save a repetition
// of the report that sealed it.
func (d *Deployments) AppendLog(pipedID string, r LogReport) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	writing, stage, err := d.index.findStage(pipedID, r.DeploymentID, r.StageID)
	if err != nil {
		return err
	}
	if writing.noteBuild(stage, r.Attempt, r.Run) {
		d.changed(writing)
	}
	if writing.signs.note(r.StageID, d.ledger.now()) {
		d.ledger.publish(Change{Deployment: writing.view()})
	}
	log := writing.log(r.StageID)
	if log.attempt(r.Attempt).sealed {
		if r.Checkpoint && r.Completed {
			return nil
		}
		return precondition("the log of stage %s has been completed already", r.StageID)
	}
	added := d.logs.add(log, r.Attempt, r.Blocks, d.ledger.now())
	log.attempt(r.Attempt).sealed = r.Completed
	d.logs.bound(log, d.index.completed)
	if len(added) == 0 && !r.Completed {
		return nil
	}
	d.ledger.keep(func() journal.Record { // as one record: the end without the last blocks would keep them out
		return logRecord(r.DeploymentID, r.StageID, r.Attempt, added, r.Completed)
	})
	if len(added) > 0 {
		d.ledger.publish(Change{Log: &LogChange{
			DeploymentID: r.DeploymentID, StageID: r.StageID, From: log.end() - len(added), To: log.end(),
		}})
	}
	log.notify()
	return nil
}

// LogPage is a part of a stage log.
type LogPage struct {
	Blocks []LogBlock
	// Next is the position to read on from.
	Next int
	// Last: there is no more at present.
	Last bool
	// Completed: this is the end, no more will be written.
	Completed bool
	// Truncated: the log no longer begins with its first block.
	Truncated bool
	// Changed is closed when there may be more.
	Changed <-chan struct{}
}

// Bytes of text in one page: small enough to pass any message limit.
const pageBytes = 1 << 20

// ReadLog returns the log of a stage from a position on, 0 being the start.
func (d *Deployments) ReadLog(deploymentID, stageID string, position int) (LogPage, error) {
	page, part, err := d.findLog(deploymentID, stageID, position)
	if err != nil {
		return LogPage{}, err
	}
	page.Blocks, err = part.open()
	return page, err
}

func (d *Deployments) findLog(deploymentID, stageID string, position int) (LogPage, logPart, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.find(deploymentID)
	if err != nil {
		return LogPage{}, logPart{}, err
	}
	stage := found.stage(stageID)
	if stage == nil {
		return LogPage{}, logPart{},
			notFound("deployment %s has no stage %s; its stages are known once it has been planned",
				deploymentID, stageID)
	}
	log := found.log(stageID)
	part := log.from(position, pageBytes)
	page := LogPage{Next: part.next, Last: part.next == log.end(), Truncated: log.truncated, Changed: log.changed}
	page.Completed = page.Last && (completed(found.model.GetStatus()) ||
		stage.GetStatus() == model.StageStatus_STAGE_SKIPPED || log.sealed(stage.GetRetriedCount()))
	return page, part, nil
}

// answerBytes is what StageLogs gives of all logs together: PipeCD's clients take answers of up to 4 MiB.
const answerBytes = 3 << 20

// StageLogs returns the newest attempt's log of every stage that has one: blocks by index, and
// whether it is complete. Of long ones it is the end.
func (d *Deployments) StageLogs(deploymentID string) (map[string][]*model.LogBlock, map[string]bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, err := d.index.find(deploymentID)
	if err != nil {
		return nil, nil, err
	}
	logs, complete := map[string][]*model.LogBlock{}, map[string]bool{}
	room, left := answerBytes, len(found.logs)
	shortest := slices.SortedFunc(maps.Keys(found.logs), func(a, b string) int {
		return cmp.Compare(found.logs[a].bytes, found.logs[b].bytes)
	})
	for _, id := range shortest { // what a short one does not need is for the others
		log, attempt := found.logs[id], found.stage(id).GetRetriedCount()
		share := room / left
		left--
		if log.end() == log.dropped && !log.sealed(attempt) {
			continue
		}
		blocks, used := log.tail(attempt, share)
		room -= used
		logs[id], complete[id] = blocks, log.sealed(attempt)
	}
	return logs, complete, nil
}

// tail returns the end of one attempt's log, by index, and the bytes of all blocks that were read for it.
func (l *stageLog) tail(attempt int32, bytes int) (blocks []*model.LogBlock, used int) {
	blocks = []*model.LogBlock{}
	newest := l.newest(bytes)
	for _, b := range newest {
		used += b.size()
		if b.Attempt == attempt {
			blocks = append(blocks, b.Block)
		}
	}
	slices.SortStableFunc(blocks, func(a, b *model.LogBlock) int { return cmp.Compare(a.GetIndex(), b.GetIndex()) })
	if cut := len(newest) < l.end()-l.dropped; cut && len(blocks) == len(newest) {
		blocks = slices.Insert(blocks, 0, leftOut(newest))
	}
	return blocks, used
}

// leftOut stands for the entries before those that are given.
func leftOut(given []LogBlock) *model.LogBlock {
	note := &model.LogBlock{Log: "(earlier entries are left out here; pipedeck logs prints them)\n"}
	if len(given) > 0 {
		note.Index, note.CreatedAt = given[0].Block.GetIndex()-1, given[0].Block.GetCreatedAt()
	}
	return note
}

func (l *stageLog) sealed(attempt int32) bool {
	a := l.attempts[attempt]
	return a != nil && a.sealed
}

// logs holds all stage logs within their bounds. It has no lock: it belongs to the holder of the lock of Deployments.
type logs struct {
	limits Limits
	bytes  int // of all logs
	packer packer
}

// add appends the blocks that are new to the attempt and returns them.
func (l *logs) add(log *stageLog, attempt int32, blocks []*model.LogBlock, received time.Time) []LogBlock {
	before := log.bytes
	added := log.add(attempt, blocks, received)
	log.compress(&l.packer)
	l.bytes += log.bytes - before
	return added
}

// bound drops what is too much: of one log its oldest blocks, with a quarter of room for the
// next ones; of all logs those of the deployments that ended first, which are in front.
func (l *logs) bound(log *stageLog, completed []*deployment) {
	if log.bytes > l.limits.StageLogBytes {
		l.bytes -= log.shrink(l.limits.StageLogBytes / 4 * 3)
	}
	for _, d := range completed {
		if l.bytes <= l.limits.LogBytes {
			return
		}
		l.drop(d)
	}
	if l.bytes > l.limits.LogBytes {
		l.bytes -= log.shrink(log.bytes / 2)
	}
}

// drop empties the logs of a deployment.
func (l *logs) drop(d *deployment) {
	for _, log := range d.logs {
		l.bytes -= log.shrink(0)
		log.notify()
	}
}
