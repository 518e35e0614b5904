// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/source"
)

// ended runs a deployment to its end, and returns its id once the control plane knows it as it has ended.
func (a *agent) ended(t *testing.T, id, application string) *model.Deployment {
	t.Helper()
	a.Submit(newDeployment(id, application))
	end := a.controlPlane.awaitEnd(t, id)
	a.controlPlane.await(t, "the application to be at rest", func() bool {
		return !a.controlPlane.deploying[application]
	})
	return a.controlPlane.keep(newDeployment(id, application), end.GetStatus())
}

// keep makes a planned deployment known with a status.
func (c *controlPlane) keep(d *model.Deployment, status model.DeploymentStatus) *model.Deployment {
	plan := c.plan(d.GetId())
	d.Status, d.StatusReason, d.Stages = status, "as it has ended", plan.GetStages()
	d.Trigger.SyncStrategy = plan.GetSyncStrategy()
	for _, stage := range d.GetStages() {
		stage.Status, stage.Metadata = model.StageStatus_STAGE_FAILURE, map[string]string{"done": "all"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[d.GetId()] = d
	return d
}

// said collects the log of a re-run.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) add(blocks []*model.LogBlock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, block := range blocks {
		s.text.WriteString(block.GetLog() + "\n")
	}
}

func (a *agent) rerun(t *testing.T, work context.Context, id, stage string, log *said) (scheduler.RerunResult, error) {
	t.Helper()
	return a.Rerun(t.Context(), work, id, stage, log.add)
}

func TestAStageIsRunAgainWithoutAWordToTheControlPlane(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: error, log: hello}"))
	d := a.ended(t, "d", "app")
	before, kept := a.controlPlane.recorded(), proto.CloneOf(d)
	logged := a.controlPlane.stageLog()

	var log said
	result, err := a.rerun(t, t.Context(), "d", d.GetStages()[0].GetId(), &log)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, result.Status)
	require.Equal(t, "the moon is missing", result.Reason)
	require.Contains(t, log.text.String(), "the moon is missing\n")
	require.Equal(t, before, a.controlPlane.recorded())
	require.Equal(t, logged, a.controlPlane.stageLog())
	require.True(t, proto.Equal(kept, d))
}

// A plugin may answer that a stage has failed, and say why in its log alone.
func TestTheReasonOfARerunIsTheLastErrorOfItsLogWhenThePluginGivesNone(t *testing.T) {
	t.Parallel()
	for with, reason := range map[string]string{
		`{do: fail, log: "no moon\nat all"}`: "no moon",
		`{do: fail}`:                         "the plugin gave no reason, and its log has no error",
		`{do: skip}`:                         "",
	} {
		a := startAgent(t, pipeline("with: "+with))
		d := a.ended(t, "d", "app")
		var log said
		result, err := a.rerun(t, t.Context(), "d", d.GetStages()[0].GetId(), &log)
		require.NoError(t, err)
		require.Equal(t, reason, result.Reason, with)
	}
}

func TestAStageIsNotRunAgainWhereItCouldRunTwice(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	a := startAgent(t, pipeline(hold(gate)))
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	stage := a.controlPlane.plan("d").GetStages()[0].GetId()
	a.controlPlane.keep(newDeployment("d", "app"), model.DeploymentStatus_DEPLOYMENT_RUNNING)
	_, err := a.Rerun(t.Context(), t.Context(), "d", stage, (&said{}).add)
	var refusal *scheduler.RerunRefusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, "deployment d has not ended, and a stage never runs twice at the same time", refusal.Reason)

	// An ended deployment of an application that is being deployed.
	ended := a.controlPlane.keep(newDeployment("d", "app"), model.DeploymentStatus_DEPLOYMENT_FAILURE)
	earlier := proto.CloneOf(ended)
	earlier.Id = "earlier"
	a.controlPlane.mu.Lock()
	a.controlPlane.known["earlier"] = earlier
	a.controlPlane.mu.Unlock()
	_, err = a.Rerun(t.Context(), t.Context(), "earlier", stage, (&said{}).add)
	require.ErrorContains(t, err, "application app is being deployed")
	_, err = a.Rerun(t.Context(), t.Context(), "d", "x", (&said{}).add)
	require.ErrorContains(t, err, `deployment d has no stage "x"`)
	_, err = a.Rerun(t.Context(), t.Context(), "none", stage, (&said{}).add)
	require.ErrorContains(t, err, `there is no deployment "none" of this piped`)
	gate.Open()
}

func TestADeploymentWaitsForARerunAndAUserWhoLeavesCancelsIt(t *testing.T) {
	t.Parallel()
	file := failpointtest.NewGate(t)
	var spec sync.Mutex
	option := "with: {}"
	cp := startControlPlane(t)
	a := startTestPlugin(t, cp, func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
		spec.Lock()
		defer spec.Unlock()
		return always(pipeline(option))(ctx, wanted)
	})
	d := a.ended(t, "d", "app")
	spec.Lock()
	option = fmt.Sprintf("with: {log: hello, do: hold, file: %q}", file.Path)
	spec.Unlock()

	work, leave := context.WithCancelCause(t.Context())
	ended := make(chan scheduler.RerunResult, 1)
	var log said
	go func() {
		result, err := a.rerun(t, work, "d", d.GetStages()[0].GetId(), &log)
		if err != nil {
			t.Error(err)
		}
		ended <- result
	}()
	file.Await(t)
	spec.Lock()
	option = "with: {}"
	spec.Unlock()
	a.Submit(newDeployment("next", "app"), newDeployment("other", "other"))
	a.controlPlane.awaitEnd(t, "other") // of another application, which does not wait
	require.Nil(t, a.controlPlane.plan("next"))
	leave(scheduler.LeftRerun())
	result := <-ended
	require.Equal(t, model.StageStatus_STAGE_CANCELLED, result.Status)
	require.Equal(t, "Cancelled by the user who wanted the re-run", result.Reason)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "next").GetStatus())
}
