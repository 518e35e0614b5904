// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Stage is one stage of a deployment.
type Stage struct {
	// Deployment is the id of its deployment.
	Deployment string `json:"deployment"`
	// App is the name of the application.
	App string `json:"app"`
	// ID identifies the stage in its deployment.
	ID string `json:"id"`
	// Name is the type of the stage, such as WAIT.
	Name string `json:"name"`
	// Status is how far it is, or how it has ended.
	Status string `json:"status" words:"stage"`
	// Requires are the ids of the stages that end before.
	Requires []string `json:"requires"`
	// Reason says why it has this status.
	Reason string `json:"reason"`
	// Attempt counts its runs, from 1.
	Attempt int32 `json:"attempt"`
	// Rollback says that it undoes what other stages did.
	Rollback bool `json:"rollback"`
	// Progress is how far it is; left out where the plugin reports none.
	Progress *Progress `json:"progress,omitempty"`
	// Targets are the results at each target; empty where the plugin reports none.
	Targets []StageTarget `json:"targets"`
	// ConfigID is the id that its author gave it in the pipeline; empty for none.
	ConfigID string `json:"config_id"`
	// Description is the one of the pipeline.
	Description string `json:"description"`
	// Index is its place among the configured stages.
	Index int32 `json:"index"`
	// Display is what the plugin shows with it.
	Display string `json:"display"`
	Approval
	Times
	Execution
}

// Execution is what executes a stage, and what holds it up.
type Execution struct {
	// Pause is where it is paused at a breakpoint; left out when it is not.
	Pause *Pause `json:"pause,omitempty"`
	// Plugin executes its latest attempt; empty before it has begun.
	Plugin string `json:"plugin"`
	// Build is that of the plugin; left out before it has begun.
	Build *Build `json:"build,omitempty"`
	// SilentSince is the last sign of a running stage that has written no log and reported no progress for 30 s; left
	// out for others.
	SilentSince string `json:"silent_since,omitempty" format:"date-time"`
}

// Times are those of a stage.
type Times struct {
	// StartedAt is when its present attempt began.
	StartedAt string `json:"started_at,omitempty" format:"date-time"`
	// FirstStartedAt is when its first attempt began.
	FirstStartedAt string `json:"first_started_at,omitempty" format:"date-time"`
	// CompletedAt is when it ended.
	CompletedAt string `json:"completed_at,omitempty" format:"date-time"`
	// PausedSeconds is how long its present attempt was paused at breakpoints before it ended.
	PausedSeconds float64 `json:"paused_seconds,omitempty"`
}

// Approval is who may act on a stage, and who has.
type Approval struct {
	// CanApprove says that it waits for an approval.
	CanApprove bool `json:"can_approve"`
	// CanSkip says that it can be skipped now.
	CanSkip bool `json:"can_skip"`
	// Approvers are the only users who may approve it; empty for everyone.
	Approvers []string `json:"approvers"`
	// ApprovalsNeeded is how many approvals it needs; 0 for a stage that needs none.
	ApprovalsNeeded int32 `json:"approvals_needed"`
	// ApprovedBy are the users who have approved it.
	ApprovedBy []string `json:"approved_by"`
	// ApprovalSubject says what the approval is about that it waits for; absent where its plugin does not say.
	ApprovalSubject string `json:"approval_subject,omitempty"`
}

// Progress is how far a stage is.
type Progress struct {
	// Done is how much is done.
	Done int64 `json:"done"`
	// Total is how much there is to do; 0 when that is not known.
	Total int64 `json:"total"`
	// Text says what is counted.
	Text string `json:"text"`
}

// StageTarget is the result of a stage at one target.
type StageTarget struct {
	// Name is that of the target.
	Name string `json:"name"`
	// Status is how far the stage is there.
	Status string `json:"status" words:"stage"`
	// Detail says more.
	Detail string `json:"detail"`
}

// NewStage returns the object of a stage of a deployment.
func NewStage(d *deckv1.Deployment, s *deckv1.Stage) Stage {
	stage := Stage{
		Deployment: d.GetId(), App: d.GetApplicationName(), ID: s.GetId(), Name: s.GetName(),
		Status: Word(s.GetStatus()), Requires: List(s.GetRequires()), Reason: s.GetStatusReason(),
		Attempt: s.GetRetries() + 1, Rollback: s.GetRollback(), Targets: each(s.GetTargets(), newStageTarget),
		ConfigID: s.GetConfigId(), Description: s.GetDesc(), Index: s.GetIndex(), Display: s.GetDisplay(),
		Approval: Approval{
			CanApprove: s.GetCanApprove(), CanSkip: s.GetCanSkip(), Approvers: List(s.GetApprovers()),
			ApprovalsNeeded: s.GetApprovalsNeeded(), ApprovedBy: List(s.GetApprovedBy()),
			ApprovalSubject: s.GetApprovalSubject(),
		},
		Times: Times{moment(s.GetStartedAt()), moment(s.GetFirstStartedAt()), moment(s.GetCompletedAt()),
			s.GetPaused().AsDuration().Seconds()},
		Execution: Execution{NewPause(s.GetPause()), s.GetPlugin(), newBuild(s.GetBuild()), moment(s.GetSilentSince())},
	}
	if p := s.GetProgress(); p != nil {
		stage.Progress = &Progress{p.GetDone(), p.GetTotal(), p.GetText()}
	}
	return stage
}

func newStageTarget(t *deckv1.StageTarget) StageTarget {
	return StageTarget{t.GetName(), Word(t.GetStatus()), t.GetDetail()}
}
