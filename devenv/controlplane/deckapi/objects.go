// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// PipeCD v1: the stage metadata that is shown under a stage.
const displayKey = "pipecd/stage-display-metadata"

// configIDKey is the stage metadata with the id that the author of the pipeline wrote. Our piped sets it.
const configIDKey = "pipedeck/stage-id"

// stageWord is what users call a stage: the id that its author gave it, else its type.
func stageWord(s *model.PipelineStage) string {
	return cmp.Or(s.GetMetadata()[configIDKey], s.GetName())
}

func application(a *store.Application) *deckv1.Application {
	m := a.Model
	running := m.GetMostRecentlySuccessfulDeployment()
	return &deckv1.Application{
		Id: m.GetId(), PipedId: m.GetPipedId(), Name: m.GetName(), Description: m.GetDescription(),
		Labels: m.GetLabels(),
		Path:   directory(m.GetGitPath().GetPath()), ConfigFilename: m.GetGitPath().GetConfigFilename(),
		Sync: syncStatus(m.GetSyncState()), SyncShortReason: m.GetSyncState().GetShortReason(),
		SyncReason: m.GetSyncState().GetReason(),
		Health:     healthStatuses[a.Health], Deploying: m.GetDeploying(), Disabled: m.GetDisabled(),
		RunningCommit: running.GetTrigger().GetCommit().GetHash(), RunningVersions: versions(running.GetVersions()),
		LatestDeploymentId: a.LatestDeploymentID, DeployTargets: targets(m.GetDeployTargetsByPlugin()),
		Resources: resourceCounts(a.Counts), Url: a.URL, RepositoryId: m.GetGitPath().GetRepo().GetId(),
		Manual: a.Manual, HealthReason: a.Counts.Worst,
		ExaminedDeploymentId: a.ExaminedDeploymentID,
	}
}

// directory is a directory as users write it: pipeds put ./ before a name of one letter, which PipeCD's control plane
// would not take. The top of the repository stays ./.
func directory(path string) string {
	return cmp.Or(strings.TrimPrefix(path, "./"), path)
}

func deployment(d *store.Deployment) *deckv1.Deployment {
	m := d.Model
	out := &deckv1.Deployment{
		Id: m.GetId(), PipedId: m.GetPipedId(), ApplicationId: m.GetApplicationId(),
		ApplicationName: m.GetApplicationName(),
		Status:          deploymentStatuses[m.GetStatus()], StatusReason: m.GetStatusReason(),
		Summary:   cmp.Or(m.GetSummary(), m.GetTrigger().GetStrategySummary()),
		Strategy:  m.GetTrigger().GetSyncStrategy().String(),
		Commit:    commit(m.GetTrigger().GetCommit()),
		Commander: m.GetTrigger().GetCommander(), RunningCommit: m.GetRunningCommitHash(),
		Versions:  versions(m.GetVersions()),
		CreatedAt: stamp(d.Created), CompletedAt: stamp(d.Completed),
		ChainId: m.GetDeploymentChainId(), ChainBlock: m.GetDeploymentChainBlockIndex(),
		Cause: causeOfDeployment(m), Paused: pausedInAll(m, d.Stages),
	}
	out.RetryOf, out.RollbackTo = d.Again()
	out.Retry, out.RetryLimit = d.Retries()
	out.SupersededBy = d.SupersededBy()
	out.PlanningWaitsFor, out.PlanningSince = planningWait(m)
	if d.EventCommit != nil {
		out.EventCommit = commit(d.EventCommit)
	}
	out.Trigger = trigger(d, out)
	for _, s := range m.GetStages() {
		if onRequest(s) {
			out.RollbackOnRequest = true
			continue
		}
		run := d.Runs[s.GetId()]
		one := stage(m, s, d.Stages[s.GetId()], run.GetApprovals())
		if attempts := run.GetAttempts(); len(attempts) > 1 {
			one.FirstStartedAt = attempts[0].GetStartedAt()
		}
		one.Plugin, one.Build = runBy(s, run)
		if one.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && !one.GetCanApprove() {
			one.SilentSince = stamp(d.Silent[s.GetId()])
		}
		out.Stages = append(out.Stages, one)
	}
	return out
}

// trigger is why a deployment was created. What it does with an earlier deployment counts more than who asked for it.
func trigger(d *store.Deployment, out *deckv1.Deployment) deckv1.DeploymentTrigger {
	switch {
	case store.IsRemoval(d.Model):
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_REMOVAL
	case out.GetRollbackTo() != "":
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_ROLLBACK
	case out.GetRetryOf() != "":
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_RETRY
	case d.WasDrift():
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_DRIFT
	case out.GetChainId() != "" && out.GetChainBlock() > 0: // the first block has another reason
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_CHAIN
	case out.GetCommander() != "":
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_SYNC
	case out.GetEventCommit() != nil:
		return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_EVENT
	}
	return deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_COMMIT
}

// onRequest reports whether only a user who cancels can have run, until it runs. Our piped marks it so.
func onRequest(s *model.PipelineStage) bool {
	return s.GetRollback() && s.GetMetadata()["pipedeck/rollback"] == "on-request" &&
		s.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET
}

func stage(
	d *model.Deployment, s *model.PipelineStage, times store.StageTimes, approvals []*deckv1.StageApproval,
) *deckv1.Stage {
	out := &deckv1.Stage{
		Id: s.GetId(), Name: s.GetName(), Desc: s.GetDesc(),
		Status: stageStatuses[s.GetStatus()], StatusReason: s.GetStatusReason(),
		Requires: s.GetRequires(), Index: s.GetIndex(), Rollback: s.GetRollback(), Retries: s.GetRetriedCount(),
		CanApprove: running(d, s) && waits(s) && operation(s) == model.ManualOperation_MANUAL_OPERATION_APPROVE,
		CanSkip:    running(d, s) && operation(s) == model.ManualOperation_MANUAL_OPERATION_SKIP,
		Display:    display(s), StartedAt: stamp(times.Started), CompletedAt: stamp(times.Completed),
		ConfigId: s.GetMetadata()[configIDKey], Approvals: approvals,
		Progress: progress(s.GetMetadata()[progressKey]), Targets: targetResults(s.GetMetadata()[targetsKey]),
		Cause: causeOfStage(s), Pause: pause(d, s), Paused: pausedTime(s, times),
	}
	if out.GetPause() != nil {
		out.CanApprove, out.CanSkip = false, false
	}
	if out.GetCanApprove() {
		out.ApprovalSubject = oneLine(s.GetMetadata()[subjectKey])
		out.Approvers, out.ApprovedBy, out.ApprovalsNeeded = awaited(s), collected(s), needed(s)
	}
	return out
}

func running(d *model.Deployment, s *model.PipelineStage) bool {
	return s.GetStatus() == model.StageStatus_STAGE_RUNNING && d.GetStatus() < model.DeploymentStatus_DEPLOYMENT_SUCCESS
}

// waitingKey is the stage metadata with which plugins say whether a stage that offers an operation waits for it now.
const waitingKey = "pipedeck/waiting"

// subjectKey is the stage metadata with which plugins say what an approval is about.
const subjectKey = "pipedeck/approval-subject"

// waits reports whether a stage that offers an operation waits for it now, as all do whose plugin does not say.
func waits(s *model.PipelineStage) bool { return s.GetMetadata()[waitingKey] != "no" }

// operation is what a user can do in the stage; where its plugin does not say, PipeCD's two
// well-known stages do by their name.
func operation(s *model.PipelineStage) model.ManualOperation {
	switch op := s.GetAvailableOperation(); op {
	case model.ManualOperation_MANUAL_OPERATION_SKIP, model.ManualOperation_MANUAL_OPERATION_APPROVE:
		return op
	}
	switch s.GetName() {
	case "WAIT_APPROVAL":
		return model.ManualOperation_MANUAL_OPERATION_APPROVE
	case "ANALYSIS":
		return model.ManualOperation_MANUAL_OPERATION_SKIP
	}
	return model.ManualOperation_MANUAL_OPERATION_NONE
}

func commit(c *model.Commit) *deckv1.Commit {
	return &deckv1.Commit{
		Hash: c.GetHash(), Message: c.GetMessage(), Author: c.GetAuthor(), Branch: c.GetBranch(), Url: c.GetUrl(),
		CreatedAt: timestamppb.New(time.Unix(c.GetCreatedAt(), 0)),
	}
}

func versions(all []*model.ArtifactVersion) []string {
	var out []string
	for _, v := range all {
		switch {
		case v.GetName() == "":
			out = append(out, v.GetVersion())
		case v.GetVersion() == "":
			out = append(out, v.GetName())
		default:
			out = append(out, v.GetName()+" "+v.GetVersion())
		}
	}
	return out
}

func targets(byPlugin map[string]*model.DeployTargets) []string {
	var out []string
	for _, plugin := range slices.Sorted(maps.Keys(byPlugin)) {
		for _, t := range byPlugin[plugin].GetDeployTargets() {
			out = append(out, plugin+"/"+t)
		}
	}
	return out
}

func syncStatus(s *model.ApplicationSyncState) deckv1.SyncStatus {
	if s == nil {
		return deckv1.SyncStatus_SYNC_STATUS_UNKNOWN
	}
	if store.IsOrphaned(s) {
		return deckv1.SyncStatus_SYNC_STATUS_ORPHANED
	}
	return syncStatuses[s.GetStatus()]
}
