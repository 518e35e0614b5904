// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Deployment is one deployment. Its stages are left out of event lines: each stage has a separate line.
type Deployment struct {
	// ID identifies the deployment; commands take its beginning, too.
	ID string `json:"id"`
	// App is the name of its application.
	App string `json:"app"`
	// AppID is the id of its application.
	AppID string `json:"app_id"`
	// Status is how far it is, or how it has ended.
	Status string `json:"status" words:"deployment"`
	// Commit is the hash of the commit that it deploys.
	Commit string `json:"commit"`
	// Reason says why it has this status.
	Reason string `json:"reason"`
	// Strategy is QUICK_SYNC or PIPELINE; empty before it is planned.
	Strategy string `json:"strategy"`
	// Summary says what it does.
	Summary string `json:"summary"`
	Change
	// CreatedAt is when it was created.
	CreatedAt string `json:"created_at,omitempty" format:"date-time"`
	// CompletedAt is when it ended.
	CompletedAt string `json:"completed_at,omitempty" format:"date-time"`
	// RollbackOnRequest says that it is rolled back only when a user asks for that.
	RollbackOnRequest bool `json:"rollback_on_request"`
	Relations
	Planning
	// Piped is the id of the piped that runs it.
	Piped string `json:"piped"`
	// Stages are its stages in their order; left out of event lines.
	Stages *[]Stage `json:"stages,omitempty"`
}

// Planning is what the planning of a deployment waits for.
type Planning struct {
	// PlanningWaitsFor is the plugin that it has waited for, for 5 s or longer; empty for none.
	PlanningWaitsFor string `json:"planning_waits_for"`
	// PlanningSince is since when it waits; left out where it does not.
	PlanningSince string `json:"planning_since,omitempty" format:"date-time"`
}

// Relations are what a deployment has to do with other ones.
type Relations struct {
	// Chain is the id of its deployment chain; empty for none.
	Chain string `json:"chain"`
	// ChainBlock is its block in the chain.
	ChainBlock uint32 `json:"chain_block"`
	// RetryOf is the id of the deployment that it repeats; empty for others.
	RetryOf string `json:"retry_of"`
	// Retry counts the retries that piped makes by itself, from 1; 0 for others.
	Retry uint32 `json:"retry"`
	// RetryLimit is how many of them it makes at most; 0 for others.
	RetryLimit uint32 `json:"retry_limit"`
	// SupersededBy is the id of the deployment of a newer commit that has ended it; empty for others.
	SupersededBy string `json:"superseded_by"`
	// RollbackTo is the id of the deployment that it goes back to; empty for others.
	RollbackTo string `json:"rollback_to"`
	// WaitsFor is the id of the deployment that has to end before; empty for others, and in event lines.
	WaitsFor string `json:"waits_for"`
}

// Change is what a deployment deploys, and who asked for it.
type Change struct {
	// CommitMessage is that of the commit.
	CommitMessage string `json:"commit_message"`
	// CommitAuthor is that of the commit.
	CommitAuthor string `json:"commit_author"`
	// CommitURL is where the commit can be read; empty when that is not known.
	CommitURL string `json:"commit_url"`
	// Branch is the branch that the commit was found on.
	Branch string `json:"branch"`
	// EventCommit is the commit that an event made; empty for other deployments.
	EventCommit string `json:"event_commit"`
	// Trigger is why it was created.
	Trigger string `json:"trigger" words:"trigger"`
	// Commander is the user who asked for it; empty when a commit did.
	Commander string `json:"commander"`
	// RunningCommit is what was live before it.
	RunningCommit string `json:"running_commit"`
	// Versions are those of the artifacts that it deploys.
	Versions []string `json:"versions"`
}

// NewDeployment returns the object of a deployment without its stages.
func NewDeployment(d *deckv1.Deployment) Deployment {
	commit := d.GetCommit()
	return Deployment{
		ID: d.GetId(), App: d.GetApplicationName(), AppID: d.GetApplicationId(), Status: Word(d.GetStatus()),
		Commit: commit.GetHash(), Reason: d.GetStatusReason(), Strategy: d.GetStrategy(), Summary: d.GetSummary(),
		Change: Change{
			CommitMessage: commit.GetMessage(), CommitAuthor: commit.GetAuthor(), CommitURL: commit.GetUrl(),
			Branch: commit.GetBranch(), EventCommit: d.GetEventCommit().GetHash(), Commander: d.GetCommander(),
			Trigger:       Word(d.GetTrigger()),
			RunningCommit: d.GetRunningCommit(), Versions: List(d.GetVersions()),
		},
		CreatedAt: moment(d.GetCreatedAt()), CompletedAt: moment(d.GetCompletedAt()),
		RollbackOnRequest: d.GetRollbackOnRequest(), Piped: d.GetPipedId(),
		Relations: Relations{
			Chain: d.GetChainId(), ChainBlock: d.GetChainBlock(), RetryOf: d.GetRetryOf(),
			RollbackTo: d.GetRollbackTo(), Retry: d.GetRetry(), RetryLimit: d.GetRetryLimit(),
			SupersededBy: d.GetSupersededBy(),
		},
		Planning: Planning{d.GetPlanningWaitsFor(), moment(d.GetPlanningSince())},
	}
}

// WithStages returns the object of a deployment with its stages. ahead is the deployment that has to end before, if
// any.
func WithStages(d, ahead *deckv1.Deployment) Deployment {
	deployment := NewDeployment(d)
	stages := each(d.GetStages(), func(s *deckv1.Stage) Stage { return NewStage(d, s) })
	deployment.Stages, deployment.WaitsFor = &stages, ahead.GetId()
	return deployment
}
