// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/source"
)

// hold has a stage wait at the gate.
func hold(gate *failpointtest.Gate) string {
	return fmt.Sprintf("with: {do: hold, file: %q}", gate.Path)
}

// most is how many of the stages ran at the same time.
func most(calls []string) int {
	running, most := 0, 0
	for _, call := range calls {
		switch {
		case !strings.HasPrefix(call, "Stage "):
		case strings.Contains(call, " RUNNING "):
			running++
		default:
			running--
		}
		most = max(most, running)
	}
	return most
}

func TestStagesRunSideBySideAndJoin(t *testing.T) {
	t.Parallel()
	first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
	a := startAgent(t, pipeline("id: a, "+hold(first), "id: b, needs: [], "+hold(second), "needs: [a, b]"))
	a.Submit(newDeployment("d", "app"))
	first.Await(t)
	second.Await(t)
	require.NotContains(t, a.controlPlane.recorded(), "Stage C RUNNING 0")
	first.Open()
	a.controlPlane.awaitCall(t, "Stage A SUCCESS 0")
	second.Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	calls := a.controlPlane.recorded()
	require.Equal(
		t,
		[]string{
			"Stage A SUCCESS 0",
			"Stage B SUCCESS 0",
			"Stage C RUNNING 0",
			"Stage C SUCCESS 0",
			"Completed SUCCESS",
		},
		calls[len(calls)-5:],
	)
	plan := a.controlPlane.plan("d").GetStages()
	require.Equal(t, []string{plan[0].GetId(), plan[1].GetId()}, a.controlPlane.report("C").GetRequires())
}

func TestAStageStartsOnlyOnceTheEndsOfWhatItNeedsAreRecorded(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	cp := startControlPlane(t)
	left := 20
	cp.refuse = func(r *pipedservice.ReportStageStatusChangedRequest) error {
		if cp.names[r.GetStageId()] != "B" || r.GetStatus() != model.StageStatus_STAGE_SUCCESS || left == 0 {
			return nil
		}
		if slices.Contains(cp.calls, "Stage A SUCCESS 0") {
			left--
		}
		return status.Error(codes.Unavailable, "not now")
	}
	a := startAgentAt(t, cp, pipeline("id: a, "+hold(gate), "id: b, needs: []", "needs: [a, b]"))
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	gate.Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	calls := cp.recorded()
	require.ElementsMatch(
		t,
		[]string{"Stage A SUCCESS 0", "Stage B SUCCESS 0"},
		slices.DeleteFunc(calls[:slices.Index(calls, "Stage C RUNNING 0")],
			func(call string) bool { return !strings.Contains(call, "SUCCESS") }),
	)
}

func TestStagesSideBySideAreBounded(t *testing.T) {
	t.Parallel()
	gates := make([]*failpointtest.Gate, 4)
	stages := make([]string, 4)
	for i := range gates {
		gates[i] = failpointtest.NewGate(t)
		stages[i] = "needs: [], " + hold(gates[i])
	}
	a := startAgentAt(t, startControlPlane(t), pipeline(stages...), func(o *scheduler.Options) { o.Parallel = 2 })
	a.Submit(newDeployment("d", "app"))
	gates[0].Await(t)
	for i := range gates[1:] {
		gates[i+1].Await(t)
		gates[i].Open()
	}
	gates[3].Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, 2, most(a.controlPlane.recorded()))
}

func TestAFailedStageStopsTheOthersBeforeTheRollback(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	a := startAgent(t, pipeline("needs: [], "+hold(gate), "id: b, needs: [], with: {do: error}", "needs: [b]"))
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Equal(t, "Stage b failed: the moon is missing", end.GetStatusReason(), "by its id, not its type")
	calls := a.controlPlane.recorded()
	require.Contains(t, calls, "Stage A CANCELLED 0")
	require.Equal(t, "Stopped because stage b failed", a.controlPlane.report("A").GetStatusReason())
	require.Less(t, slices.Index(calls, "Stage A CANCELLED 0"), slices.Index(calls, "Status ROLLING_BACK"))
	require.Nil(t, a.controlPlane.report("C"), "what needs the failed stage does not start")
}

func TestAStageThatExitsLetsTheOthersEnd(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	a := startAgent(t, pipeline("needs: [], "+hold(gate), "id: b, needs: [], with: {do: exit}", "needs: [b]"))
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	a.controlPlane.awaitCall(t, "Stage B EXITED 0")
	gate.Open()
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), "stage b asked for it")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, a.controlPlane.report("A").GetStatus())
	require.Nil(t, a.controlPlane.report("C"))
}

func TestCancelStopsAllThatRuns(t *testing.T) {
	t.Parallel()
	first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
	a := startAgent(t, pipeline("needs: [], "+hold(first), "needs: [], "+hold(second)))
	a.Submit(newDeployment("d", "app"))
	first.Await(t)
	second.Await(t)
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Contains(
		t, []string{"Cancelled by carol while executing stages A, B", "Cancelled by carol while executing stages B, A"},
		end.GetStatusReason(),
	)
	require.Equal(t, model.StageStatus_STAGE_CANCELLED, a.controlPlane.report("A").GetStatus())
	require.Equal(t, model.StageStatus_STAGE_CANCELLED, a.controlPlane.report("B").GetStatus())
}

// taken is a deployment that another piped has begun.
func taken(strategy model.SyncStrategy, stages ...*model.PipelineStage) *model.Deployment {
	return with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy, d.Stages = model.DeploymentStatus_DEPLOYMENT_RUNNING, strategy, stages
	})
}

func stage(name string, index int32, status model.StageStatus, requires ...string) *model.PipelineStage {
	now := time.Now().Unix()
	return &model.PipelineStage{
		Id: name, Name: name, Index: index, Status: status, Requires: requires, Rollback: name == "ROLLBACK",
		CreatedAt: now, UpdatedAt: now,
	}
}

const (
	waiting = model.StageStatus_STAGE_NOT_STARTED_YET
	running = model.StageStatus_STAGE_RUNNING
)

func TestADeploymentThatAnotherPipedBeganIsBroughtToItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deployment *model.Deployment
		want       []string
		reason     string
	}{
		"a failure decides and what ran at the same time is not run again": {
			taken(
				model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_FAILURE), stage("B", 1, running),
				stage("ROLLBACK", 0, waiting),
			),
			[]string{
				"Stage B CANCELLED 0", "Status ROLLING_BACK", "Stage ROLLBACK RUNNING 0", "Stage ROLLBACK SUCCESS 0",
				"Completed FAILURE",
			},
			"Stage A failed",
		},
		"a failure says more than a stage that it stopped": {
			taken(
				model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_CANCELLED),
				stage("B", 1, model.StageStatus_STAGE_FAILURE),
			),
			[]string{"Completed FAILURE"}, "Stage B failed",
		},
		"a cancelled stage cancels": {
			taken(
				model.SyncStrategy_PIPELINE,
				because(stage("A", 0, model.StageStatus_STAGE_CANCELLED), "Cancelled by dave"),
				stage("B", 1, waiting, "A"),
			),
			[]string{"Completed CANCELLED"}, "Cancelled by dave while executing stage A",
		},
		"a cancellation between stages stays one": {
			with(taken(
				model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_SUCCESS),
				stage("B", 1, waiting, "A"), stage("ROLLBACK", 0, waiting),
			),
				func(d *model.Deployment) {
					d.Status, d.StatusReason = model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, "Cancelled by dave"
				}),
			[]string{"Stage ROLLBACK RUNNING 0", "Stage ROLLBACK SUCCESS 0", "Completed CANCELLED"},
			"Cancelled by dave",
		},
		"its time goes on": {
			with(taken(model.SyncStrategy_PIPELINE, stage("A", 0, running)), func(d *model.Deployment) {
				d.Stages[0].CreatedAt = time.Now().Add(-7 * time.Hour).Unix()
			}),
			[]string{"Stage A RUNNING 1", "Stage A FAILURE 1", "Completed FAILURE"},
			"The deployment timed out after 6h0m0s while executing stage A",
		},
		"what ran at the same time as an exit is run again": {
			taken(
				model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_EXITED), stage("B", 1, running),
				stage("C", 2, waiting, "A"),
			),
			[]string{"Stage B RUNNING 1", "Stage B SUCCESS 1", "Completed SUCCESS"},
			"The deployment was completed since stage A asked for it",
		},
		"a quick sync without requirements goes in its order": {
			taken(
				model.SyncStrategy_QUICK_SYNC, stage("A", 0, waiting), stage("B", 0, waiting), stage("C", 0, waiting),
			),
			[]string{
				"Stage A RUNNING 0", "Stage A SUCCESS 0", "Stage B RUNNING 0", "Stage B SUCCESS 0", "Stage C RUNNING 0",
				"Stage C SUCCESS 0", "Completed SUCCESS",
			}, "All stages succeeded",
		},
		"stages that wait for each other fail": {
			taken(
				model.SyncStrategy_PIPELINE, stage("A", 0, waiting), stage("B", 1, waiting, "C"),
				stage("C", 2, waiting, "B"),
			),
			[]string{"Stage A RUNNING 0", "Stage A SUCCESS 0", "Completed FAILURE"},
			"The stages B, C can never start, because they require each other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := "with: {}"
			if strings.Contains(c.reason, "timed out") {
				first = "with: {do: block}"
			}
			a := startAgent(t, pipeline(first, "with: {}", "with: {}"))
			a.Submit(c.deployment)
			end := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, c.want, a.controlPlane.recorded())
			require.Equal(t, c.reason, end.GetStatusReason())
		})
	}
}

func TestAStopLeavesAllRunningStagesToTheNextPiped(t *testing.T) {
	t.Parallel()
	first, second := failpointtest.NewGate(t), failpointtest.NewGate(t)
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("needs: [], "+hold(first), "needs: [], "+hold(second)))
	a.Submit(newDeployment("d", "app"))
	first.Await(t)
	second.Await(t)
	a.stop()
	before := cp.recorded()
	require.ElementsMatch(
		t, []string{"Stage A RUNNING 0", "Stage B RUNNING 0"}, before[2:], "nothing is reported when piped stops",
	)

	stages := cp.plan("d").GetStages()
	stages[0].Status, stages[1].Status = running, running
	startAgentAt(
		t, cp, pipeline("needs: [], with: {}", "needs: [], with: {}"),
	).Submit(taken(model.SyncStrategy_PIPELINE, stages...))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.ElementsMatch(t, []string{
		"Stage A RUNNING 1", "Stage A SUCCESS 1", "Stage B RUNNING 1", "Stage B SUCCESS 1", "Completed SUCCESS",
	}, cp.recorded()[len(before):])
}

func because(stage *model.PipelineStage, reason string) *model.PipelineStage {
	stage.StatusReason = reason
	return stage
}

func TestAnAttemptIsRecordedBeforeTheCall(t *testing.T) {
	t.Parallel()
	calls := filepath.Join(t.TempDir(), "calls")
	for name, c := range map[string]struct {
		code   codes.Code
		times  int
		status model.DeploymentStatus
		calls  string
	}{
		"refused for good the stage fails uncalled": {
			codes.FailedPrecondition, 1, model.DeploymentStatus_DEPLOYMENT_FAILURE, "ROLLBACK 0\n",
		},
		"a passing failure is waited out": {
			codes.Unavailable, 3, model.DeploymentStatus_DEPLOYMENT_SUCCESS, "A 0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := calls + c.code.String()
			cp := startControlPlane(t)
			cp.refuse = func(r *pipedservice.ReportStageStatusChangedRequest) error {
				if r.GetStatus() != running || c.times == 0 {
					return nil
				}
				require.NoFileExists(t, file)
				c.times--
				return status.Error(c.code, "not now")
			}
			a := startAgentAt(t, cp, pipeline(fmt.Sprintf("with: {calls: %q}", file)))
			a.Submit(newDeployment("d", "app"))
			end := cp.awaitEnd(t, "d")
			require.Equal(t, c.status, end.GetStatus(), end.GetStatusReason())
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, c.calls, string(text))
		})
	}
}

func TestAControlPlaneThatFailsAtAnEndDoesNotHoldUpTheDeploymentForEver(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	tries := 0
	cp.refuse = func(r *pipedservice.ReportStageStatusChangedRequest) error {
		if r.GetStatus() != model.StageStatus_STAGE_SUCCESS || cp.names[r.GetStageId()] != "A" {
			return nil
		}
		tries++
		return status.Error(codes.Internal, "the disk is full")
	}
	a := startAgentAt(t, cp, pipeline("with: {}", "with: {}"))
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Equal(
		t, []string{"Stage A RUNNING 0", "Stage B RUNNING 0", "Stage B SUCCESS 0", "Completed SUCCESS"},
		cp.recorded()[2:],
	)
	require.Equal(t, 10, tries)
}

func TestAnEndThatDoesNotGetThroughIsReportedUntilItDoes(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	left := 30
	cp.refuse = func(r *pipedservice.ReportStageStatusChangedRequest) error {
		if r.GetStatus() != model.StageStatus_STAGE_SUCCESS || left == 0 {
			return nil
		}
		left--
		return status.Error(codes.Unavailable, "not now")
	}
	a := startAgentAt(t, cp, pipeline("with: {}", "with: {}"))
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Equal(
		t,
		[]string{
			"Stage A RUNNING 0",
			"Stage A SUCCESS 0",
			"Stage B RUNNING 0",
			"Stage B SUCCESS 0",
			"Completed SUCCESS",
		},
		cp.recorded()[2:],
	)
}

func TestAPlanThatTakesLongDelaysNoOther(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	a.Submit(newDeployment("d1", "slow"), newDeployment("d2", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d2").GetStatus())
	require.Nil(t, a.controlPlane.plan("d1"))
}

func TestSourcesThatCannotBePreparedFailTheStageAtOnce(t *testing.T) {
	t.Parallel()
	a := startAgentAt(t, startControlPlane(t), pipeline("with: {}"), func(o *scheduler.Options) {
		o.Sources = sources{prepare: func(context.Context, source.Wanted) (*source.Source, error) {
			return nil, errors.New("no space left on device")
		}}
	})
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	const why = "prepare the sources: no space left on device"
	require.Equal(t, "Stage A failed: "+why+"; the rollback failed in stage ROLLBACK for the same reason",
		end.GetStatusReason())
	require.Contains(t, a.controlPlane.stageLog(), "A 0 prepare the sources: no space left on device")
}

func TestSourcesAreNotPreparedForStagesThatDoNotCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []string
		want   int32
	}{
		"one stage":      {[]string{"with: {}"}, 1},
		"three stages":   {[]string{"with: {}", "with: {}", "with: {}"}, 3},
		"and a rollback": {[]string{"with: {do: fail}"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var prepared atomic.Int32
			a := startAgentAt(t, startControlPlane(t), pipeline(c.stages...), func(o *scheduler.Options) {
				before := o.Sources
				o.Sources = sources{
					prepare: func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
						prepared.Add(1)
						return before.Prepare(ctx, wanted)
					},
					describe: before.Describe,
				}
			})
			a.Submit(newDeployment("d", "app"))
			a.controlPlane.awaitEnd(t, "d")
			a.stop()
			require.Equal(t, c.want, prepared.Load())
		})
	}
}
