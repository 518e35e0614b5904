// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// silentStage is the time without a line of log or progress after which a running stage is shown as silent. silentCheck
// is the longest time between two looks for such stages, as long as one of Pipeds.
const (
	silentStage = 30 * time.Second
	silentCheck = quietCheck
)

// signs are when stages have last written to their logs or reported progress, by id.
type signs struct {
	last map[string]time.Time
	// silent are the last signs of the stages that are shown as silent.
	silent map[string]time.Time
}

// note notes a sign of a stage, and reports whether it was shown as silent.
func (s *signs) note(stageID string, now time.Time) bool {
	if s.last == nil {
		s.last, s.silent = map[string]time.Time{}, map[string]time.Time{}
	}
	s.last[stageID] = now
	_, was := s.silent[stageID]
	delete(s.silent, stageID)
	return was
}

// CheckStages looks for running stages that show no sign of life, and returns when it should be called again: a stage
// is shown as silent no more than HeartbeatCheck too late.
func (d *Deployments) CheckStages() (again time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.ledger.now()
	again = silentCheck
	for _, open := range d.index.open {
		for _, one := range open {
			next, news := one.checkStages(now)
			again = min(again, next)
			if news {
				d.ledger.publish(Change{Deployment: one.view()})
			}
		}
	}
	return again
}

// checkStages marks the stages that have become silent.
func (d *deployment) checkStages(now time.Time) (next time.Duration, news bool) {
	next = silentCheck
	for _, stage := range d.model.GetStages() {
		if stage.GetStatus() != model.StageStatus_STAGE_RUNNING || waitsForUser(stage) {
			continue
		}
		last := d.signs.last[stage.GetId()]
		if last.IsZero() { // it began in an earlier control plane, whose logs this one has not seen come
			d.signs.note(stage.GetId(), now)
			continue
		}
		if _, known := d.signs.silent[stage.GetId()]; known {
			continue
		}
		if left := silentStage - now.Sub(last); left > 0 {
			next = min(next, max(HeartbeatCheck, left))
			continue
		}
		d.signs.silent[stage.GetId()], news = last, true
	}
	return next, news
}

// waitsForUser reports whether a stage waits for an approval, or for a time that a user can cut short: it has nothing
// to write meanwhile.
func waitsForUser(stage *model.PipelineStage) bool {
	if stage.GetMetadata()["pipedeck/waiting"] == "no" {
		return false
	}
	switch stage.GetAvailableOperation() {
	case model.ManualOperation_MANUAL_OPERATION_APPROVE, model.ManualOperation_MANUAL_OPERATION_SKIP:
		return true
	}
	return stage.GetName() == "WAIT_APPROVAL"
}
