// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// What a snapshot holds of logs: the end of each, and those of the newest deployments.
const (
	keptStageLog = 256 << 10
	keptLogs     = 16 << 20
)

// state returns the present state as changes; with logs, those of running stages too. The store is frozen.
func (d *Deployments) state(logs bool) (changes []Change) {
	for _, one := range sorted(d.index.byID, func(a, b *deployment) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.sequence, b.sequence))
	}) {
		changes = append(changes, Change{Deployment: one.view()})
		if logs {
			changes = append(changes, one.runningLogs()...)
		}
	}
	return changes
}

// records emits what the journal keeps. The store is frozen.
func (d *Deployments) records(emit func(journal.Record)) {
	all := sorted(d.index.byID, func(a, b *deployment) int { return cmp.Compare(a.sequence, b.sequence) })
	for _, one := range all {
		emit(one.record())
	}
	room := keptLogs
	for _, one := range slices.Backward(all) {
		for stage, log := range one.logs {
			room -= emitLog(one.model.GetId(), stage, log, min(room, keptStageLog), emit)
		}
	}
}

// emitLog emits the end of a log that fits in room, and returns how much that is.
func emitLog(deployment, stage string, log *stageLog, room int, emit func(journal.Record)) int {
	used := 0
	newest := log.newest(room)
	for _, b := range newest {
		used += b.size()
	}
	blocks := byAttempt(newest)
	for attempt, a := range log.attempts {
		if len(blocks[attempt]) > 0 || a.sealed {
			emit(logRecord(deployment, stage, attempt, blocks[attempt], a.sealed))
		}
	}
	return used
}

// byAttempt keeps the order within each attempt.
func byAttempt(blocks []LogBlock) map[int32][]LogBlock {
	parts := map[int32][]LogBlock{}
	for _, b := range blocks {
		parts[b.Attempt] = append(parts[b.Attempt], b)
	}
	return parts
}

func logRecord(deployment, stage string, attempt int32, blocks []LogBlock, sealed bool) journal.Record {
	r := journal.Record{Kind: journal.Log, ID: deployment, Name: stage, Attempt: attempt, Sealed: sealed}
	for _, b := range blocks {
		r.Blocks = append(r.Blocks, encode(b.Block))
		r.Received = b.Received
	}
	return r
}

func (d *Deployments) restore(r journal.Record) error {
	m := &model.Deployment{}
	if err := d.ledger.decode(r, m); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.index.byID[m.GetId()]
	ended := one != nil && completed(one.model.GetStatus())
	switch {
	case one == nil:
		one = &deployment{model: m, logs: map[string]*stageLog{}}
		d.index.put(one)
		d.applications.deployed(m.GetApplicationId(), m.GetId(), true)
	case one.model.GetPipedId() != m.GetPipedId(), one.model.GetApplicationId() != m.GetApplicationId():
		return errOtherOwner
	case ended && !completed(m.GetStatus()):
		return errReopened
	}
	one.model, one.created, one.completed, one.eventCommit = m, r.Created, r.Completed, decodeCommit(r.Commit)
	one.stages = map[string]StageTimes{}
	for _, t := range r.Stages {
		one.stages[t.ID] = StageTimes{Started: t.Started, Completed: t.Completed}
		one.decodeRun(t.ID, t.Run)
	}
	d.chains.follow(m)
	for _, log := range d.orphans.take(m.GetId()) {
		if one.stage(log.Name) != nil { // its blocks have been decoded before
			_ = d.addRestored(log)
		}
	}
	if completed(m.GetStatus()) && !ended {
		d.complete(one)
	}
	return nil
}

func (d *Deployments) restoreLog(r journal.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.addRestored(r)
}

// addRestored adds to the log of a stage, or keeps the record until the stage is known. The caller holds d.mu.
func (d *Deployments) addRestored(r journal.Record) error {
	var blocks []*model.LogBlock
	for _, data := range r.Blocks {
		b := &model.LogBlock{}
		if err := proto.Unmarshal(data, b); err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	one := d.index.byID[r.ID]
	if one == nil || one.stage(r.Name) == nil {
		d.orphans.add(r)
		return nil
	}
	log := one.log(r.Name)
	d.logs.add(log, r.Attempt, blocks, r.Received)
	log.attempt(r.Attempt).sealed = log.attempt(r.Attempt).sealed || r.Sealed
	d.logs.bound(log, d.index.completed)
	return nil
}

// lost cancels a deployment whose last state is not known. It returns a name of it for users.
func (d *Deployments) lost(r journal.Record) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.index.byID[r.ID]
	if one == nil {
		return ""
	}
	m := one.model
	name := "the last state of " + r.String() + " of application " + m.GetApplicationName()
	if completed(m.GetStatus()) {
		return name
	}
	now := d.ledger.now()
	m.Status, m.StatusReason = model.DeploymentStatus_DEPLOYMENT_CANCELLED, "Cancelled: "+lostReason
	m.CompletedAt, m.UpdatedAt, one.completed = now.Unix(), now.Unix(), now
	for _, stage := range m.GetStages() {
		if !ended(stage.GetStatus()) {
			stage.Status = model.StageStatus_STAGE_CANCELLED
			one.stampStage(stage, now)
			one.noteRun(stage, nil, now)
		}
	}
	d.chains.follow(m)
	d.complete(one)
	return name + " (it is cancelled)"
}

// restored forgets the log records whose stage was never found.
func (d *Deployments) restored() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orphans = orphans{}
}

// maxOrphans bounds the log records whose stage is not known yet.
const maxOrphans = 10_000

// orphans are log records that came before their stage, whose own record is damaged.
type orphans struct {
	byDeployment map[string][]journal.Record
	count        int
}

func (o *orphans) add(r journal.Record) {
	if o.count >= maxOrphans {
		return
	}
	if o.byDeployment == nil {
		o.byDeployment = map[string][]journal.Record{}
	}
	r.Blocks = slices.Clone(r.Blocks)
	for i, block := range r.Blocks {
		r.Blocks[i] = slices.Clone(block)
	}
	o.byDeployment[r.ID] = append(o.byDeployment[r.ID], r)
	o.count++
}

func (o *orphans) take(deployment string) []journal.Record {
	records := o.byDeployment[deployment]
	delete(o.byDeployment, deployment)
	o.count -= len(records)
	return records
}
