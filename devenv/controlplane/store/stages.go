// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"strings"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// ReportStage stores the status of a stage. Pipeds send completed_at even for RUNNING, where it is
// the time of the report (PipeCD v1) or of the stage's first start (ours, which reads it back).
func (d *Deployments) ReportStage(pipedID string, r *pipedservice.ReportStageStatusChangedRequest) error {
	return d.ReportStageRun(pipedID, r, nil)
}

// ReportStageRun is ReportStage with what the stage is executed with; nil for a report without.
func (d *Deployments) ReportStageRun(
	pipedID string, r *pipedservice.ReportStageStatusChangedRequest, run *agentv1.StageRun,
) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	running, stage, err := d.index.findStage(pipedID, r.GetDeploymentId(), r.GetStageId())
	if err != nil {
		return err
	}
	if completed(running.model.GetStatus()) {
		if stage.GetStatus() == r.GetStatus() {
			return nil
		}
		return precondition("deployment %s has ended as %s already", r.GetDeploymentId(), running.model.GetStatus())
	}
	now := d.ledger.now()
	if r.GetRetriedCount() != stage.GetRetriedCount() {
		delete(running.stages, stage.GetId())
	}
	stage.Status, stage.StatusReason = r.GetStatus(), d.ledger.reason(r.GetStatusReason())
	stage.RetriedCount, stage.UpdatedAt = r.GetRetriedCount(), now.Unix()
	if r.GetVisible() {
		stage.Visible = true
	}
	if len(r.GetRequires()) > 0 {
		stage.Requires = r.GetRequires()
	}
	stage.CompletedAt = r.GetCompletedAt()
	running.stampStage(stage, now)
	running.noteRun(stage, run, now)
	running.signs.note(stage.GetId(), now)
	d.changed(running)
	if log := running.logs[stage.GetId()]; log != nil {
		log.notify()
	}
	return nil
}

// MergeStageMetadata adds to the notes of a stage; new values win.
func (d *Deployments) MergeStageMetadata(pipedID, deploymentID, stageID string, metadata map[string]string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, stage, err := d.index.findStage(pipedID, deploymentID, stageID)
	if err != nil {
		return err
	}
	merged, err := d.merged(found.model, stage.GetMetadata(), metadata)
	if err != nil {
		return err
	}
	stage.Metadata = merged
	found.noteApprovals(stage, d.ledger.now())
	found.signs.note(stageID, d.ledger.now())
	d.changed(found)
	return nil
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
