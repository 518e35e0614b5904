// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"cmp"
	"context"
	"strconv"
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// DeploymentID is the id of the deployment of every Execution.
const DeploymentID = standin.DeploymentID

// StageID is the id of a stage without another one: its name in lower case, so that tests can name it.
func StageID(stage string) string { return standin.StageID(stage) }

// Execution is one stage to execute. Only Stage is needed.
type Execution struct {
	Stage string
	// ID is StageID(Stage) when empty.
	ID string
	// Options is the JSON of the stage's "with"; empty is a quick sync.
	Options string
	Change
	// Index is the position in the pipeline.
	Index    int
	Rollback bool
	// Attempt counts earlier executions of the stage.
	Attempt int
	// Run is sdk.StageState.Run: the attempt with which a user had the stage run once more.
	Run int
	// Targets are the names of the deploy targets; nil is all of Options.DeployTargets.
	Targets []string
}

// Outcome is how a stage ended.
type Outcome struct {
	Status sdk.StageStatus
	// Reason is the headline of the error of a stage that has failed.
	Reason string
}

// Run executes a stage to its end. A cancelled ctx cancels the stage, and is an error then. A request that the plugin
// refuses, such as one with a wrong configuration of the application, is an error, too.
func (h *Harness) Run(ctx context.Context, e Execution) (Outcome, error) {
	resp, err := h.wire.Deployment.ExecuteStage(ctx, h.request(e))
	return Outcome{Status: sdk.StageStatus(resp.GetStatus()), Reason: resp.GetMessage()}, err
}

func (h *Harness) request(e Execution) *deployment.ExecuteStageRequest {
	request := h.wire.Request(e.Stage, e.Options)
	in := request.GetInput()
	in.Stage.Id = cmp.Or(e.ID, StageID(e.Stage))
	in.Stage.Index, in.Stage.Rollback, in.Stage.RetriedCount = int32(e.Index), e.Rollback, int32(e.Attempt)
	if e.Run > 0 {
		in.Stage.Metadata = map[string]string{"pipedeck/run": strconv.Itoa(e.Run)}
	}
	in.RunningDeploymentSource = e.Running.wire()
	if e.Target != nil {
		in.TargetDeploymentSource = e.Target.wire()
	}
	if e.Targets != nil {
		for _, targets := range in.GetDeployment().GetDeployTargetsByPlugin() {
			targets.DeployTargets = e.Targets
		}
	}
	return request
}

// Execute runs a stage with these options to its end and fails the test when that is an error.
func (h *Harness) Execute(t testing.TB, stage, options string) sdk.StageStatus {
	t.Helper()
	ended, err := h.Run(t.Context(), Execution{Stage: stage, Options: options})
	if err != nil {
		t.Fatalf("execute %s: %v", stage, err)
	}
	return ended.Status
}

// Go is Execute in the background; the channel gives the status once. That of a cancelled stage is StageNotStarted:
// piped does not wait for its answer.
func (h *Harness) Go(ctx context.Context, t testing.TB, stage, options string) <-chan sdk.StageStatus {
	t.Helper()
	ended := make(chan sdk.StageStatus, 1)
	go func() {
		outcome, err := h.Run(ctx, Execution{Stage: stage, Options: options})
		if err != nil {
			t.Logf("execute %s: %v", stage, err)
		}
		ended <- outcome.Status
	}()
	return ended
}
