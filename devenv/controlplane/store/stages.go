// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// ReportStage stores the status of a stage. Pipeds send completed_at even for RUNNING, where it is
// the time of the report (PipeCD v1) or of the stage's first start (ours, which reads it back).
func (s *Store) ReportStage(pipedID string, r *pipedservice.ReportStageStatusChangedRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, r.GetDeploymentId())
	if err != nil {
		return err
	}
	stage := d.stage(r.GetStageId())
	if stage == nil {
		return invalid("deployment %s has no stage %s", r.GetDeploymentId(), r.GetStageId())
	}
	if completed(d.model.GetStatus()) {
		if stage.GetStatus() == r.GetStatus() {
			return nil
		}
		return precondition("deployment %s has ended as %s already", r.GetDeploymentId(), d.model.GetStatus())
	}
	now := s.now()
	if r.GetRetriedCount() != stage.GetRetriedCount() {
		delete(d.stages, stage.GetId())
	}
	stage.Status, stage.StatusReason = r.GetStatus(), shortReason(r.GetStatusReason())
	stage.RetriedCount, stage.UpdatedAt = r.GetRetriedCount(), now.Unix()
	if r.GetVisible() {
		stage.Visible = true
	}
	if len(r.GetRequires()) > 0 {
		stage.Requires = r.GetRequires()
	}
	stage.CompletedAt = r.GetCompletedAt()
	d.stampStage(stage, now)
	s.deploymentChanged(d)
	if log := d.logs[stage.GetId()]; log != nil {
		log.notify()
	}
	return nil
}

// MergeStageMetadata adds to the notes of a stage; new values win.
func (s *Store) MergeStageMetadata(pipedID, deploymentID, stageID string, metadata map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.ownedDeployment(pipedID, deploymentID)
	if err != nil {
		return err
	}
	stage := d.stage(stageID)
	if stage == nil {
		return invalid("deployment %s has no stage %s", deploymentID, stageID)
	}
	if err := s.room(d.model, growth(stage.GetMetadata(), metadata)); err != nil {
		return err
	}
	if stage.Metadata == nil {
		stage.Metadata = map[string]string{}
	}
	maps.Copy(stage.Metadata, metadata)
	s.deploymentChanged(d)
	return nil
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

// backfillOperations says what a user can do in stages of a PipeCD v0 piped, which does not.
func backfillOperations(stages []*model.PipelineStage) {
	for _, stage := range stages {
		switch stage.GetName() {
		case "ANALYSIS":
			stage.AvailableOperation = model.ManualOperation_MANUAL_OPERATION_SKIP
		case "WAIT_APPROVAL":
			stage.AvailableOperation = model.ManualOperation_MANUAL_OPERATION_APPROVE
			for name := range strings.SplitSeq(stage.GetMetadata()["Approvers"], ",") {
				if name = strings.TrimSpace(name); name != "" {
					stage.AuthorizedOperators = append(stage.AuthorizedOperators, name)
				}
			}
		}
	}
}

func ended(status model.StageStatus) bool {
	return status >= model.StageStatus_STAGE_SUCCESS
}
