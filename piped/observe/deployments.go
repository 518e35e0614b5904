// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// maxDeployments bounds the open deployments that are remembered; the oldest are forgotten first.
	maxDeployments = 10_000
	// maxEnded bounds the ids of ended ones, which a late answer of the control plane may still list.
	maxEnded = 1024
)

// approvedUsersKey is where PipeCD v1's stages put the names of those who approved.
const approvedUsersKey = "pipecd/stage-approved-users"

// waitingKey is where plugins say, as yes or no, whether a stage that offers an operation waits for it now.
const waitingKey = "pipedeck/waiting"

// deployment is an open deployment as it was reported.
type deployment struct {
	*model.Deployment
	// since is when it was created; zero when that was not seen.
	since     time.Time
	canceller string
	// started holds when the present attempt at each stage began.
	started map[string]time.Time
}

// deployments are the open ones by id. The zero value is ready.
type deployments struct {
	byID  map[string]*deployment
	order []string
	ended []string
}

// add remembers a copy of the deployment unless it is known. One that has ended is returned, not remembered.
func (s *deployments) add(d *model.Deployment) (known *deployment, fresh bool) {
	if known, ok := s.byID[d.GetId()]; ok {
		return known, false
	}
	if slices.Contains(s.ended, d.GetId()) {
		return &deployment{Deployment: proto.CloneOf(d), started: map[string]time.Time{}}, false
	}
	if s.byID == nil {
		s.byID = map[string]*deployment{}
	}
	if len(s.order) >= maxDeployments {
		delete(s.byID, s.order[0])
		s.order = s.order[1:]
	}
	known = &deployment{Deployment: proto.CloneOf(d), started: map[string]time.Time{}}
	s.byID[d.GetId()] = known
	s.order = append(s.order, d.GetId())
	return known, true
}

// get finds the deployment, or remembers that there is one of which nothing else is known.
func (s *deployments) get(id string) *deployment {
	known, _ := s.add(&model.Deployment{Id: id})
	return known
}

// end forgets the deployment, but for its id.
func (s *deployments) end(id string) {
	delete(s.byID, id)
	s.order = slices.DeleteFunc(s.order, func(known string) bool { return known == id })
	s.ended = append(s.ended, id)
	s.ended = s.ended[max(len(s.ended)-maxEnded, 0):]
}

func (d *deployment) snapshot() *model.Deployment { return proto.CloneOf(d.Deployment) }

func (d *deployment) plan(r *ps.ReportDeploymentPlannedRequest) {
	d.Status = model.DeploymentStatus_DEPLOYMENT_PLANNED
	d.Summary, d.StatusReason = r.GetSummary(), r.GetStatusReason()
	d.RunningCommitHash, d.RunningConfigFilename = r.GetRunningCommitHash(), r.GetRunningConfigFilename()
	d.Versions, d.Stages = nil, nil
	for _, version := range r.GetVersions() {
		d.Versions = append(d.Versions, proto.CloneOf(version))
	}
	for _, stage := range r.GetStages() {
		d.Stages = append(d.Stages, proto.CloneOf(stage))
	}
}

func (d *deployment) stage(id string) *model.PipelineStage {
	for _, stage := range d.Stages {
		if stage.GetId() == id {
			return stage
		}
	}
	stage := &model.PipelineStage{Id: id}
	d.Stages = append(d.Stages, stage)
	return stage
}

// waits returns the event of a stage that has come to wait for an approval.
func (d *deployment) waits(stageID string) Event {
	return Event{Type: DeploymentWaitApproval, Deployment: d.snapshot(), Stage: proto.CloneOf(d.stage(stageID))}
}

func (d *deployment) approved(stageID, users string) {
	stage := d.stage(stageID)
	if stage.Metadata == nil {
		stage.Metadata = map[string]string{}
	}
	stage.Metadata[approvedUsersKey] = users
}

// statusChanged takes a report in and returns the events it stands for.
func (d *deployment) statusChanged(r *ps.ReportDeploymentStatusChangedRequest) []Event {
	if d.Status == r.GetStatus() {
		return nil
	}
	d.Status, d.StatusReason = r.GetStatus(), r.GetStatusReason()
	switch r.GetStatus() {
	case model.DeploymentStatus_DEPLOYMENT_RUNNING:
		return []Event{{Type: DeploymentStarted, Deployment: d.snapshot()}}
	case model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK:
		return []Event{{Type: DeploymentRollingBack, Deployment: d.snapshot(), Reason: r.GetStatusReason()}}
	default:
		return nil
	}
}

// completed takes the last report in and returns the event it stands for.
func (d *deployment) completed(r *ps.ReportDeploymentCompletedRequest, now time.Time) Event {
	d.Status, d.StatusReason, d.CompletedAt = r.GetStatus(), r.GetStatusReason(), r.GetCompletedAt()
	e := Event{
		Type: DeploymentSucceeded, Deployment: d.snapshot(), Reason: r.GetStatusReason(), Took: since(d.since, now),
	}
	switch r.GetStatus() {
	case model.DeploymentStatus_DEPLOYMENT_FAILURE:
		e.Type = DeploymentFailed
	case model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		e.Type, e.Commander = DeploymentCancelled, d.canceller
	}
	return e
}

// stageChanged takes a report in and returns the events it stands for.
func (d *deployment) stageChanged(r *ps.ReportStageStatusChangedRequest, now time.Time) []Event {
	stage := d.stage(r.GetStageId())
	stage.Status, stage.StatusReason, stage.RetriedCount = r.GetStatus(), r.GetStatusReason(), r.GetRetriedCount()
	approval := stage.GetAvailableOperation() == model.ManualOperation_MANUAL_OPERATION_APPROVE
	e := Event{Deployment: d.snapshot(), Stage: proto.CloneOf(stage), Reason: r.GetStatusReason()}
	switch r.GetStatus() {
	case model.StageStatus_STAGE_RUNNING:
		d.started[stage.GetId()] = now
		e.Type = StageStarted
		if approval && stage.GetRetriedCount() == 0 && stage.GetMetadata()[waitingKey] == "" {
			waiting := e
			waiting.Type = DeploymentWaitApproval
			return []Event{e, waiting}
		}
		return []Event{e}
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_EXITED: // PipeCD v1: leaving early is a success
		e.Type = StageSucceeded
	case model.StageStatus_STAGE_SKIPPED:
		e.Type = StageSkipped
	case model.StageStatus_STAGE_FAILURE:
		e.Type = StageFailed
	case model.StageStatus_STAGE_CANCELLED:
		e.Type = StageCancelled
	default:
		return nil
	}
	e.Took = since(d.started[stage.GetId()], now)
	delete(d.started, stage.GetId())
	users, asked := stage.GetMetadata()[approvedUsersKey], stage.GetMetadata()[waitingKey] == ""
	if approval && e.Type == StageSucceeded && (asked || users != "") {
		done := e
		done.Type, done.Approver, done.Took = DeploymentApproved, users, 0
		return []Event{e, done}
	}
	return []Event{e}
}

func since(start, now time.Time) time.Duration {
	if start.IsZero() {
		return 0
	}
	return now.Sub(start)
}
