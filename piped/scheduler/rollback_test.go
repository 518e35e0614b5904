// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

// undoHold has the rollback of a stage wait at the gate.
func undoHold(gate *failpointtest.Gate) string {
	return fmt.Sprintf("with: {undo: hold, undoFile: %q}", gate.Path)
}

// rollbacks are the reports of rollback stages in their order: "NAME INDEX STATUS", and what each stage required.
func (c *controlPlane) rollbacks(deployment string) (reports []string, requires map[string][]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := func(id string) string { return id }
	for _, stage := range c.planned[deployment].GetStages() {
		before, called := name, fmt.Sprintf("%s %d", stage.GetName(), stage.GetIndex())
		name = func(id string) string {
			if id == stage.GetId() {
				return called
			}
			return before(id)
		}
	}
	requires = map[string][]string{}
	for _, request := range c.requests {
		r, is := request.(*pipedservice.ReportStageStatusChangedRequest)
		if !is || !strings.Contains(name(r.GetStageId()), "ROLLBACK") {
			continue
		}
		called := name(r.GetStageId())
		reports = append(reports, called+" "+strings.TrimPrefix(r.GetStatus().String(), "STAGE_"))
		requires[called] = nil
		for _, id := range r.GetRequires() {
			requires[called] = append(requires[called], name(id))
		}
	}
	return reports, requires
}

func TestRollbackStagesRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
	a := startAgent(t, pipeline(undoHold(first), undoHold(second), "with: {do: error, undo: error}"))
	a.Submit(newDeployment("d", "app"))
	first.Await(t)
	first.Open()
	second.Await(t)
	second.Open()
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Equal(
		t, "Stage C failed: the moon is missing; the rollback failed in stage ROLLBACK for the same reason",
		end.GetStatusReason(),
	)
	reports, requires := a.controlPlane.rollbacks("d")
	require.Equal(t, []string{
		"ROLLBACK 0 RUNNING", "ROLLBACK 0 SUCCESS", "ROLLBACK 1 RUNNING", "ROLLBACK 1 SUCCESS", "ROLLBACK 2 RUNNING",
		"ROLLBACK 2 FAILURE",
	}, reports)
	require.Equal(
		t, map[string][]string{"ROLLBACK 0": {"C 2"}, "ROLLBACK 1": {"ROLLBACK 0"}, "ROLLBACK 2": {"ROLLBACK 1"}},
		requires,
	)
}

func TestRollbackStagesRunTogetherWhereNeedsSaysSo(t *testing.T) {
	t.Parallel()
	first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
	a := startAgent(
		t,
		pipeline("id: a, "+undoHold(first), "id: b, needs: [], "+undoHold(second), "needs: [a, b], with: {do: error}"),
	)
	a.Submit(newDeployment("d", "app"))
	first.Await(t)
	second.Await(t)
	reports, _ := a.controlPlane.rollbacks("d")
	require.ElementsMatch(t, []string{"ROLLBACK 0 RUNNING", "ROLLBACK 1 RUNNING"}, reports)
	first.Open()
	second.Open()
	a.controlPlane.awaitEnd(t, "d")
	reports, requires := a.controlPlane.rollbacks("d")
	require.Equal(t, []string{"ROLLBACK 2 RUNNING", "ROLLBACK 2 SUCCESS"}, reports[4:])
	require.Equal(
		t,
		map[string][]string{"ROLLBACK 0": {"C 2"}, "ROLLBACK 1": {"C 2"}, "ROLLBACK 2": {"ROLLBACK 1", "ROLLBACK 0"}},
		requires,
	)
}

// K8S_ROLLBACK has the index of the first stage of its plugin and undoes all of them.
func TestARollbackOfSeveralStagesWaitsForEachThatOneOfThemNeeds(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	plugin := func(name string, stages ...string) config.Plugin {
		settings, err := json.Marshal(
			map[string]any{"stages": stages, "rollback": stages[len(stages)-1], "rollbackOnce": name == "many"},
		)
		require.NoError(t, err)
		return config.Plugin{Name: name, URL: "file://" + testPlugin, Config: settings}
	}
	spec := "  name: app\n  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n" +
		"    - {id: a, name: CANARY, " + undoHold(gate) + "}\n" +
		"    - {id: b, name: SCRIPT, needs: []}\n" +
		"    - {name: PRIMARY, needs: [a, b], with: {do: error}}\n"
	a := startAgentWith(
		t, startControlPlane(t),
		[]config.Plugin{plugin("many", "CANARY", "PRIMARY", "MANY_ROLLBACK"), plugin("one", "SCRIPT", "ONE_ROLLBACK")},
		always(spec),
	)
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	gate.Open()
	a.controlPlane.awaitEnd(t, "d")
	reports, requires := a.controlPlane.rollbacks("d")
	require.Equal(
		t,
		[]string{
			"MANY_ROLLBACK 0 RUNNING",
			"MANY_ROLLBACK 0 SUCCESS",
			"ONE_ROLLBACK 1 RUNNING",
			"ONE_ROLLBACK 1 SUCCESS",
		},
		reports,
	)
	require.Equal(
		t, map[string][]string{"MANY_ROLLBACK 0": {"PRIMARY 2"}, "ONE_ROLLBACK 1": {"MANY_ROLLBACK 0"}}, requires,
	)
}

func TestRollbackStagesThatAnotherPipedPlannedRunInOrder(t *testing.T) {
	t.Parallel()
	undo := func(id string, index int32, status model.StageStatus, requires ...string) *model.PipelineStage {
		s := stage("ROLLBACK", index, status, requires...)
		s.Id = id
		return s
	}
	for name, c := range map[string]struct {
		strategy model.SyncStrategy
		stages   []*model.PipelineStage
		want     []string
	}{
		"those of a pipeline by index": {
			model.SyncStrategy_PIPELINE,
			[]*model.PipelineStage{
				stage("A", 0, model.StageStatus_STAGE_SUCCESS), stage("B", 1, model.StageStatus_STAGE_FAILURE, "A"),
				undo("second", 1, waiting), undo("first", 0, waiting),
			},
			[]string{
				"Stage first RUNNING 0", "Stage first SUCCESS 0", "Stage second RUNNING 0", "Stage second SUCCESS 0",
				"Completed FAILURE",
			},
		},
		"those of a quick sync as they are listed": {
			model.SyncStrategy_QUICK_SYNC,
			[]*model.PipelineStage{
				stage("A", 0, model.StageStatus_STAGE_FAILURE), undo("first", 1, waiting), undo("second", 0, waiting),
			},
			[]string{
				"Stage first RUNNING 0", "Stage first SUCCESS 0", "Stage second RUNNING 0", "Stage second SUCCESS 0",
				"Completed FAILURE",
			},
		},
		"a started one first": {
			model.SyncStrategy_PIPELINE,
			[]*model.PipelineStage{
				stage("A", 0, model.StageStatus_STAGE_SUCCESS), stage("B", 1, model.StageStatus_STAGE_FAILURE, "A"),
				undo("first", 0, running, "B"), undo("second", 1, waiting),
			},
			[]string{
				"Stage first RUNNING 1", "Stage first SUCCESS 1", "Stage second RUNNING 0", "Stage second SUCCESS 0",
				"Completed FAILURE",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t, pipeline("with: {}", "with: {}"))
			a.Submit(with(taken(c.strategy, c.stages...), func(d *model.Deployment) {
				d.Status, d.StatusReason = model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, "Stage failed"
			}))
			a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, c.want, slices.Clone(a.controlPlane.recorded()))
		})
	}
}

func TestAUserStopsARollback(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	a := startAgent(t, pipeline(undoHold(gate), "with: {do: error}"))
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	command := cancelCommand("c", "d")
	command.CancelDeployment.ForceNoRollback = true
	a.HandleCommands(t.Context(), []*model.Command{command})
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Equal(t, "Stage B failed: the moon is missing; the rollback failed in stage ROLLBACK: "+
		"Cancelled by carol without a rollback", end.GetStatusReason())
	a.controlPlane.await(t, "the command", func() bool {
		return a.controlPlane.handled["c"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
	})
}
