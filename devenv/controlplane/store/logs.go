// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
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
}

// AppendLog adds the blocks that are not there yet. A sealed log takes no more, save a repetition
// of the report that sealed it.
func (s *Store) AppendLog(pipedID string, r LogReport) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, r.DeploymentID)
	if err != nil {
		return err
	}
	if d.stage(r.StageID) == nil {
		return invalid("deployment %s has no stage %s", r.DeploymentID, r.StageID)
	}
	log := d.log(r.StageID)
	if log.attempt(r.Attempt).sealed {
		if r.Checkpoint && r.Completed {
			return nil
		}
		return precondition("the log of stage %s has been completed already", r.StageID)
	}
	before := log.bytes
	added := log.add(r.Attempt, r.Blocks, s.now())
	log.compress(&s.packer)
	s.logBytes += log.bytes - before
	log.attempt(r.Attempt).sealed = r.Completed
	s.boundLogs(log)
	if len(added) > 0 || r.Completed { // as one record: the end without the last blocks would keep them out
		s.keepLog(r.DeploymentID, r.StageID, r.Attempt, added, r.Completed)
	}
	if len(added) > 0 {
		s.tell(Change{Log: &LogChange{DeploymentID: r.DeploymentID, StageID: r.StageID, From: log.end() - len(added), To: log.end()}})
	}
	if len(added) > 0 || r.Completed {
		log.notify()
	}
	return nil
}

// boundLogs drops what is too much: of one log its oldest blocks, with a quarter of room for the
// next ones; of all logs those of the deployments that ended first.
func (s *Store) boundLogs(log *stageLog) {
	if log.bytes > s.limits.StageLogBytes {
		s.logBytes -= log.shrink(s.limits.StageLogBytes / 4 * 3)
	}
	for _, d := range s.completed {
		if s.logBytes <= s.limits.LogBytes {
			return
		}
		s.dropLogs(d)
	}
	if s.logBytes > s.limits.LogBytes {
		s.logBytes -= log.shrink(log.bytes / 2)
	}
}

func (s *Store) dropLogs(d *deployment) {
	for _, log := range d.logs {
		s.logBytes -= log.shrink(0)
		log.notify()
	}
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
func (s *Store) ReadLog(deploymentID, stageID string, position int) (LogPage, error) {
	page, part, err := s.findLog(deploymentID, stageID, position)
	if err != nil {
		return LogPage{}, err
	}
	page.Blocks, err = part.open()
	return page, err
}

func (s *Store) findLog(deploymentID, stageID string, position int) (LogPage, logPart, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.deployment(deploymentID)
	if err != nil {
		return LogPage{}, logPart{}, err
	}
	stage := d.stage(stageID)
	if stage == nil {
		return LogPage{}, logPart{}, notFound("deployment %s has no stage %s; its stages are known once it has been planned", deploymentID, stageID)
	}
	log := d.log(stageID)
	part := log.from(position, pageBytes)
	page := LogPage{Next: part.next, Last: part.next == log.end(), Truncated: log.truncated, Changed: log.changed}
	page.Completed = page.Last && (completed(d.model.GetStatus()) ||
		stage.GetStatus() == model.StageStatus_STAGE_SKIPPED || log.sealed(stage.GetRetriedCount()))
	return page, part, nil
}

// answerBytes is what StageLogs gives of all logs together: PipeCD's clients take answers of up to 4 MiB.
const answerBytes = 3 << 20

// StageLogs returns the newest attempt's log of every stage that has one: blocks by index, and
// whether it is complete. Of long ones it is the end.
func (s *Store) StageLogs(deploymentID string) (map[string][]*model.LogBlock, map[string]bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.deployment(deploymentID)
	if err != nil {
		return nil, nil, err
	}
	logs, complete := map[string][]*model.LogBlock{}, map[string]bool{}
	room, left := answerBytes, len(d.logs)
	shortest := slices.SortedFunc(maps.Keys(d.logs), func(a, b string) int { return cmp.Compare(d.logs[a].bytes, d.logs[b].bytes) })
	for _, id := range shortest { // what a short one does not need is for the others
		log, stage := d.logs[id], d.stage(id)
		share := room / left
		left--
		if log.end() == log.dropped && !log.sealed(stage.GetRetriedCount()) {
			continue
		}
		blocks := []*model.LogBlock{}
		newest := log.newest(share)
		for _, b := range newest {
			room -= b.size()
			if b.Attempt == stage.GetRetriedCount() {
				blocks = append(blocks, b.Block)
			}
		}
		slices.SortStableFunc(blocks, func(a, b *model.LogBlock) int { return cmp.Compare(a.GetIndex(), b.GetIndex()) })
		if cut := len(newest) < log.end()-log.dropped; cut && len(blocks) == len(newest) {
			blocks = slices.Insert(blocks, 0, leftOut(newest))
		}
		logs[id], complete[id] = blocks, log.sealed(stage.GetRetriedCount())
	}
	return logs, complete, nil
}

// leftOut stands for the entries before those that are given.
func leftOut(given []LogBlock) *model.LogBlock {
	note := &model.LogBlock{Log: "(earlier entries are left out here; pipedeck logs prints them)\n"}
	if len(given) > 0 {
		note.Index, note.CreatedAt = given[0].Block.GetIndex()-1, given[0].Block.GetCreatedAt()
	}
	return note
}

func (d *deployment) log(stageID string) *stageLog {
	if d.logs[stageID] == nil {
		d.logs[stageID] = newStageLog()
	}
	return d.logs[stageID]
}

func (l *stageLog) sealed(attempt int32) bool {
	a := l.attempts[attempt]
	return a != nil && a.sealed
}
