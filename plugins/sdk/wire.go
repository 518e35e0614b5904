// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"strconv"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
)

// The files wire.go and wirelivestate.go are the only place where messages of the protocol become the types of this
// package, and the other way round. The numbers of the enums are those of the protocol, which a test holds.

func deploymentOf(d *model.Deployment) *Deployment {
	if d == nil {
		return &Deployment{}
	}
	return &Deployment{
		ID: d.GetId(), PipedID: d.GetPipedId(), ProjectID: d.GetProjectId(),
		Application: applicationOf(d), Trigger: triggerOf(d.GetTrigger()),
		RunningCommit: d.GetRunningCommitHash(), Summary: d.GetSummary(),
		Versions: converted(d.GetVersions(), versionOf), Stages: converted(d.GetStages(), stageStateOf),
		Targets: targetsOf(d.GetDeployTargetsByPlugin()), CreatedAt: timeOf(d.GetCreatedAt()),
	}
}

func applicationOf(d *model.Deployment) Application {
	git := d.GetGitPath()
	return Application{
		ID: d.GetApplicationId(), Name: d.GetApplicationName(), Labels: d.GetLabels(),
		RepositoryID: git.GetRepo().GetId(), Remote: git.GetRepo().GetRemote(), Branch: git.GetRepo().GetBranch(),
		Path: git.GetPath(), ConfigFilename: git.GetConfigFilename(),
	}
}

func triggerOf(t *model.DeploymentTrigger) Trigger {
	c := t.GetCommit()
	return Trigger{
		Commit: Commit{
			Hash: c.GetHash(), Message: c.GetMessage(), Author: c.GetAuthor(), Branch: c.GetBranch(),
			PullRequest: int(c.GetPullRequest()), URL: c.GetUrl(), CreatedAt: timeOf(c.GetCreatedAt()),
		},
		Commander: t.GetCommander(), At: timeOf(t.GetTimestamp()), Sync: SyncStrategy(t.GetSyncStrategy()),
		Summary: t.GetStrategySummary(),
	}
}

func targetsOf(byPlugin map[string]*model.DeployTargets) map[string][]string {
	targets := make(map[string][]string, len(byPlugin))
	for plugin, names := range byPlugin {
		targets[plugin] = names.GetDeployTargets()
	}
	return targets
}

func versionOf(v *model.ArtifactVersion) ArtifactVersion {
	return ArtifactVersion{Name: v.GetName(), Version: v.GetVersion(), URL: v.GetUrl()}
}

func (v ArtifactVersion) wire() *model.ArtifactVersion {
	return &model.ArtifactVersion{Name: v.Name, Version: v.Version, Url: v.URL}
}

func stageStateOf(s *model.PipelineStage) StageState {
	return StageState{
		ID: s.GetId(), Name: s.GetName(), Desc: s.GetDesc(), Index: int(s.GetIndex()), Rollback: s.GetRollback(),
		Requires: s.GetRequires(), Status: StageStatus(s.GetStatus()), Reason: s.GetStatusReason(),
		Metadata: s.GetMetadata(), Attempt: int(s.GetRetriedCount()), Run: runOf(s),
		Operation: operationOf(s.GetAvailableOperation()),
		Operators: s.GetAuthorizedOperators(), CreatedAt: timeOf(s.GetCreatedAt()),
		CompletedAt: timeOf(s.GetCompletedAt()),
	}
}

// runMetadataKey is the metadata of a stage with StageState.Run, which pipedeck's piped sends.
const runMetadataKey = "pipedeck/run"

func runOf(s *model.PipelineStage) int {
	run, err := strconv.Atoi(s.GetMetadata()[runMetadataKey])
	if err != nil {
		return 0
	}
	return run
}

// wire leaves the ids and the order to piped (PipeCD v1).
func (s Stage) wire(now time.Time) *model.PipelineStage {
	return &model.PipelineStage{
		Name: s.Name, Desc: s.Desc, Index: int32(s.Index), Rollback: s.Rollback,
		Status: model.StageStatus_STAGE_NOT_STARTED_YET, Metadata: s.Metadata,
		CreatedAt: now.Unix(), UpdatedAt: now.Unix(),
		AvailableOperation: s.Operation.wire(), AuthorizedOperators: s.Operators,
	}
}

func (s StageStatus) wire() model.StageStatus { return model.StageStatus(s) }

func (s SyncStrategy) wire() model.SyncStrategy { return model.SyncStrategy(s) }

func operationOf(o model.ManualOperation) Operation {
	switch o {
	case model.ManualOperation_MANUAL_OPERATION_APPROVE:
		return OperationApprove
	case model.ManualOperation_MANUAL_OPERATION_SKIP:
		return OperationSkip
	default:
		return OperationNone
	}
}

func (o Operation) wire() model.ManualOperation {
	switch o {
	case OperationApprove:
		return model.ManualOperation_MANUAL_OPERATION_APPROVE
	case OperationSkip:
		return model.ManualOperation_MANUAL_OPERATION_SKIP
	default:
		return model.ManualOperation_MANUAL_OPERATION_NONE
	}
}

// commandOf is false for commands that are not for a stage.
func commandOf(c *model.Command) (Command, bool) {
	command := Command{ID: c.GetId(), Commander: c.GetCommander()}
	switch c.GetType() {
	case model.Command_APPROVE_STAGE:
		command.Operation = OperationApprove
	case model.Command_SKIP_STAGE:
		command.Operation = OperationSkip
	default:
		return Command{}, false
	}
	return command, true
}

// timeOf is the zero time for 0, which is how the protocol says that there is no time.
func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// secondsOr is the time in the protocol, or now where the author gave none.
func secondsOr(t, now time.Time) int64 {
	if t.IsZero() || t.Unix() <= 0 { // the control plane refuses those
		return now.Unix()
	}
	return t.Unix()
}

// converted keeps nil, so that an absent list stays absent.
func converted[From, To any](list []From, convert func(From) To) []To {
	if list == nil {
		return nil
	}
	made := make([]To, len(list))
	for i, one := range list {
		made[i] = convert(one)
	}
	return made
}
