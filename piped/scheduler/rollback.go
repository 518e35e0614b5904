// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/system/clock"
)

// rollbackWanted: there is something to undo it with, and the user who has cancelled wants it, or else the application.
func rollbackWanted(stages []*model.PipelineStage, choice rollbackChoice) bool {
	can, automatic := false, false
	for _, stage := range stages {
		if stage.GetRollback() {
			can = true
			automatic = automatic || stage.GetMetadata()[planner.RollbackMetadataKey] != planner.RollbackOnRequest
		}
	}
	switch choice {
	case choiceRollback:
		return can
	case choiceNoRollback:
		return false
	default:
		return automatic
	}
}

// rollback puts the rollback stages of a deployment in their order.
type rollback struct {
	progress *progress
	plugins  Plugins
	// wait is how long it waits to learn the plugin of a stage.
	wait  time.Duration
	clock clock.Clock
}

// stages are the rollback stages in the order of their indexes (PipeCD v1), each requiring the ones that it
// follows, the first ones the stages that were executed last. Those that an earlier piped started keep what it
// recorded.
func (r *rollback) stages(ctx context.Context) []*model.PipelineStage {
	var stages []*model.PipelineStage
	for _, stage := range r.progress.deployment.GetStages() {
		if stage.GetRollback() {
			stages = append(stages, stage)
		}
	}
	quick := r.progress.deployment.GetTrigger().GetSyncStrategy() == model.SyncStrategy_QUICK_SYNC
	if !quick { // whose stages have no indexes; they are in order
		slices.SortStableFunc(
			stages, func(a, b *model.PipelineStage) int { return cmp.Compare(a.GetIndex(), b.GetIndex()) },
		)
	}
	var undone []undoing
	if !quick {
		undone = r.undone(ctx, stages)
	}
	last := r.lastExecuted()
	after := make([]map[int]bool, len(stages)) // the places of all that must be over before
	for i, stage := range stages {
		after[i] = map[int]bool{}
		var requires []string
		for j := i - 1; j >= 0; j-- {
			if after[i][j] || (!quick && undone[i].besides(undone[j])) {
				continue
			}
			requires = append(requires, stages[j].GetId())
			after[i][j] = true
			for k := range after[j] {
				after[i][k] = true
			}
		}
		if len(requires) == 0 {
			requires = last
		}
		r.progress.require(stage, requires)
	}
	return stages
}

// undoing is what a rollback stage undoes.
type undoing struct {
	known bool
	// stages are ids, required those of all stages that they wait for, directly or not.
	stages, required map[string]bool
}

// besides reports that nothing that one undoes waits for anything that the other one undoes: the configuration lets the
// stages run side by side (needs), so their rollbacks may.
func (u undoing) besides(other undoing) bool {
	return u.known && other.known && disjoint(u.required, other.stages) && disjoint(u.stages, other.required) &&
		disjoint(u.stages, other.stages)
}

func disjoint(a, b map[string]bool) bool {
	for id := range a {
		if b[id] {
			return false
		}
	}
	return true
}

// undone works out what each rollback stage undoes: the stage of its index, and those of the same plugin that have no
// separate rollback stage, such as all of K8S_ROLLBACK's.
func (r *rollback) undone(ctx context.Context, rollbacks []*model.PipelineStage) []undoing {
	byID, byIndex, own := map[string]*model.PipelineStage{}, map[int32]*model.PipelineStage{}, map[int32]bool{}
	for _, stage := range r.progress.deployment.GetStages() {
		if stage.GetRollback() {
			own[stage.GetIndex()] = true
			continue
		}
		byID[stage.GetId()], byIndex[stage.GetIndex()] = stage, stage
	}
	var require func(into map[string]bool, stage *model.PipelineStage)
	require = func(into map[string]bool, stage *model.PipelineStage) {
		for _, id := range stage.GetRequires() {
			if before := byID[id]; before != nil && !into[id] {
				into[id] = true
				require(into, before)
			}
		}
	}
	owners := map[string]string{} // by stage name
	for _, stage := range r.progress.deployment.GetStages() {
		if _, known := owners[stage.GetName()]; !known {
			owners[stage.GetName()] = r.ownerName(ctx, stage)
		}
	}
	list := make([]undoing, len(rollbacks))
	for i, rollback := range rollbacks {
		owner := owners[rollback.GetName()]
		u := undoing{
			known:    owner != "" && byIndex[rollback.GetIndex()] != nil,
			stages:   map[string]bool{},
			required: map[string]bool{},
		}
		for _, stage := range byIndex {
			if stage.GetIndex() == rollback.GetIndex() || (!own[stage.GetIndex()] && owners[stage.GetName()] == owner) {
				u.stages[stage.GetId()] = true
				require(u.required, stage)
			}
		}
		list[i] = u
	}
	return list
}

// ownerName is the plugin of a stage, "" when that does not show in time.
func (r *rollback) ownerName(ctx context.Context, stage *model.PipelineStage) string {
	ctx, cancel := clock.WithTimeout(ctx, r.clock, r.wait, context.DeadlineExceeded)
	defer cancel()
	plugin, err := r.plugins.Owner(ctx, stage.GetName())
	if err != nil {
		return ""
	}
	return plugin.Name()
}

// lastExecuted are the ids of the started stages that no other started stage requires.
func (r *rollback) lastExecuted() []string {
	required := map[string]bool{}
	var started []*model.PipelineStage
	for _, stage := range r.progress.deployment.GetStages() {
		if stage.GetRollback() || stage.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET {
			continue
		}
		started = append(started, stage)
		for _, id := range stage.GetRequires() {
			required[id] = true
		}
	}
	var last []string
	for _, stage := range started {
		if !required[stage.GetId()] {
			last = append(last, stage.GetId())
		}
	}
	return last
}

// interruptedOutcome is the outcome of a deployment that an earlier piped was rolling back. A failed stage
// says more than cancelled ones, which it may have stopped; without either the reason decides.
func interruptedOutcome(d *model.Deployment) Outcome {
	outcome := Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: d.GetStatusReason()}
	if strings.HasPrefix(outcome.Reason, cancelledBy) || strings.HasPrefix(outcome.Reason, supersededBy) {
		outcome.Status = model.DeploymentStatus_DEPLOYMENT_CANCELLED
	}
	for _, stage := range d.GetStages() {
		if stage.GetRollback() {
			continue
		}
		switch stage.GetStatus() {
		case model.StageStatus_STAGE_FAILURE:
			outcome.Status = model.DeploymentStatus_DEPLOYMENT_FAILURE
			return outcome
		case model.StageStatus_STAGE_CANCELLED:
			outcome.Status = model.DeploymentStatus_DEPLOYMENT_CANCELLED
		}
	}
	return outcome
}

// failedRollback says, at the end of a deployment's reason, which rollback stages did not succeed; empty when all did.
// What the reason says already is not repeated.
func failedRollback(stages []*model.PipelineStage, reason string) string {
	var failed []*model.PipelineStage
	why := ""
	for _, stage := range stages {
		if stage.GetRollback() && ended(stage) && !passed(stage) {
			failed = append(failed, stage)
			why = cmp.Or(why, stage.GetStatusReason())
		}
	}
	if len(failed) == 0 {
		return ""
	}
	text := "; the rollback failed in " + names(failed)
	switch {
	case why == "":
		return text
	case strings.Contains(reason, why):
		return text + " for the same reason"
	}
	return text + ": " + why
}
