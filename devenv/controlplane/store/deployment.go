// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"time"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/journal"
)

// Deployment is a deployment with the times at which its reports arrived, finer than the seconds
// of the model. Shared: do not change.
type Deployment struct {
	Model *model.Deployment
	// Completed is zero while it runs.
	Created, Completed time.Time
	// Times of stages by id; a stage that did not start has none.
	Stages map[string]StageTimes
	// Runs say what stages were executed with, and who approved them, by id; a stage that did not start has none.
	Runs map[string]*deckv1.GetStageRunResponse
	// EventCommit is the commit whose event led to the deployment's commit; nil for none.
	EventCommit *model.Commit
	// Silent are the last signs of the stages that have shown none for some time, by id.
	Silent map[string]time.Time
}

// StageTimes are the times of a stage's latest attempt; zero when not reached.
type StageTimes struct{ Started, Completed time.Time }

// deployment is guarded by the lock of Deployments.
type deployment struct {
	model              *model.Deployment
	sequence           int
	created, completed time.Time
	stages             map[string]StageTimes
	runs               map[string]*deckv1.GetStageRunResponse
	eventCommit        *model.Commit
	logs               map[string]*stageLog
	signs              signs
}

func (d *deployment) view() *Deployment {
	return &Deployment{
		Model: proto.CloneOf(d.model), Created: d.created, Completed: d.completed, Stages: maps.Clone(d.stages),
		Runs: maps.Clone(d.runs), EventCommit: d.eventCommit,
		Silent: maps.Clone(d.signs.silent),
	}
}

func (d *deployment) record() journal.Record {
	r := journal.Record{
		Kind: journal.Deployment, ID: d.model.GetId(), Model: encode(d.model), Commit: encodeCommit(d.eventCommit),
		Created: d.created, Completed: d.completed,
	}
	for id, times := range d.stages {
		r.Stages = append(r.Stages, journal.Stage{
			ID: id, Started: times.Started, Completed: times.Completed, Run: d.encodeRun(id),
		})
	}
	return r
}

// stage returns the stage with that id; nil for none.
func (d *deployment) stage(id string) *model.PipelineStage {
	for _, stage := range d.model.GetStages() {
		if stage.GetId() == id {
			return stage
		}
	}
	return nil
}

// log returns the log of a stage.
func (d *deployment) log(stageID string) *stageLog {
	if d.logs[stageID] == nil {
		d.logs[stageID] = newStageLog()
	}
	return d.logs[stageID]
}

// stampStage notes when a stage started or ended, at its first report that says so.
func (d *deployment) stampStage(stage *model.PipelineStage, now time.Time) {
	times := d.stages[stage.GetId()]
	switch {
	case stage.GetStatus() == model.StageStatus_STAGE_RUNNING:
		if times.Started.IsZero() || !times.Completed.IsZero() {
			times = StageTimes{Started: now}
		}
	case ended(stage.GetStatus()):
		if times.Completed.IsZero() {
			times.Completed = now
		}
	default:
		return
	}
	d.stages[stage.GetId()] = times
}

// runningLogs returns the logs of the running stages as changes.
func (d *deployment) runningLogs() (changes []Change) {
	for _, stage := range d.model.GetStages() {
		log := d.logs[stage.GetId()]
		if stage.GetStatus() != model.StageStatus_STAGE_RUNNING || log == nil || log.end() == log.dropped {
			continue
		}
		changes = append(changes, Change{Log: &LogChange{
			DeploymentID: d.model.GetId(), StageID: stage.GetId(), From: log.dropped, To: log.end(),
		}})
	}
	return changes
}

func ended(status model.StageStatus) bool {
	return status >= model.StageStatus_STAGE_SUCCESS
}
