// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/json"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Breakpoints is the document of pipedeck break and of pipedeck break show.
type Breakpoints struct {
	Head
	// Breakpoints are those that are set.
	Breakpoints []Breakpoint `json:"breakpoints"`
	// Paused are the stages that are paused at one; for pipedeck break show the stage that it is about.
	Paused []PausedStage `json:"paused"`
}

// Breakpoint is where deployments stop until a user goes on.
type Breakpoint struct {
	// When is before, after or failure.
	When string `json:"when"`
	// App is the name of the application; empty for all.
	App string `json:"app"`
	// Stage is the id or the type of the stage; * for all.
	Stage string `json:"stage"`
}

// PausedStage is a stage that is paused at a breakpoint.
type PausedStage struct {
	// App is the name of the application.
	App string `json:"app"`
	// Deployment is the id of its deployment.
	Deployment string `json:"deployment"`
	// Commit is the commit that is deployed.
	Commit string `json:"commit"`
	// RunningCommit is the commit that runs; empty on a first deployment.
	RunningCommit string `json:"running_commit"`
	// Stage is the id of the stage.
	Stage string `json:"stage"`
	// Name is the type of the stage.
	Name string `json:"name"`
	// ConfigID is the id that its author gave it; empty for none.
	ConfigID string `json:"config_id"`
	// DeployTargets are those of the application, as plugin/target.
	DeployTargets []string `json:"deploy_targets"`
	// Environment are the variables that pipedeck shell sets.
	Environment map[string]string `json:"environment"`
	Pause
}

// Pause is where a stage is paused.
type Pause struct {
	// When is before, after or failure.
	When string `json:"when"`
	// Since is when the pause began.
	Since string `json:"since,omitempty" format:"date-time"`
	// Attempt is the one that begins or has ended, counted from 1.
	Attempt int32 `json:"attempt"`
	// Result is the status with which the stage would end, such as success; empty before the stage.
	Result string `json:"result"`
	// Reason is the answer of the plugin, or why the stage has failed.
	Reason string `json:"reason"`
	// Directory is the application in the source of the stage, on the machine of piped.
	Directory string `json:"directory"`
	// RepositoryDirectory is the root of that source.
	RepositoryDirectory string `json:"repository_directory"`
	// RunningDirectory is the application at the commit that runs; empty where the stage does not get it.
	RunningDirectory string `json:"running_directory"`
	// With are the options that the plugin gets, without secrets; left out in a quick sync and for long ones.
	With json.RawMessage `json:"with,omitempty"`
}

// NewBreakpoint returns the object of a breakpoint.
func NewBreakpoint(b *deckv1.Breakpoint) Breakpoint {
	return Breakpoint{When: state.BreakWord(b.GetWhen()), App: b.GetApplication(), Stage: b.GetStage()}
}

// NewPause returns the object of a pause; nil for none.
func NewPause(p *deckv1.StagePause) *Pause {
	if p == nil {
		return nil
	}
	pause := &Pause{
		When: state.BreakWord(p.GetWhen()), Since: moment(p.GetSince()), Attempt: p.GetAttempt(), Result: p.GetResult(),
		Reason: p.GetReason(), Directory: p.GetDirectory(), RepositoryDirectory: p.GetRepositoryDirectory(),
		RunningDirectory: p.GetRunningDirectory(),
	}
	if json.Valid([]byte(p.GetOptions())) {
		pause.With = json.RawMessage(p.GetOptions())
	}
	return pause
}

// NewPausedStage returns the object of a stage that is paused.
func NewPausedStage(d *deckv1.Deployment, s *deckv1.Stage, environment map[string]string) PausedStage {
	return PausedStage{
		App: d.GetApplicationName(), Deployment: d.GetId(), Commit: d.GetCommit().GetHash(),
		RunningCommit: d.GetRunningCommit(), Stage: s.GetId(), Name: s.GetName(), ConfigID: s.GetConfigId(),
		DeployTargets: List(s.GetPause().GetDeployTargets()), Environment: environment, Pause: *NewPause(s.GetPause()),
	}
}
