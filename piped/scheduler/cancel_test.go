// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

func cancelCommand(id, deployment string) *model.Command {
	return &model.Command{
		Id: id, Type: model.Command_CANCEL_DEPLOYMENT, Commander: "carol", DeploymentId: deployment,
		CancelDeployment: &model.Command_CancelDeployment{DeploymentId: deployment},
	}
}

func TestCancelStopsTheStageAndRollsBack(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: block}"))
	a.Submit(newDeployment("d", "app"))
	a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Equal(t, "Cancelled by carol while executing stage A", end.GetStatusReason())
	require.Contains(t, a.controlPlane.recorded(), "Stage A CANCELLED 0")
	require.Contains(t, a.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0")
	a.controlPlane.await(t, "the command", func() bool {
		return a.controlPlane.handled["c"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
	})
}

func TestTheRollbackWaitsForTheCleanupOfACancelledStage(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{
		"that ends": time.Minute, "that takes too long": time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			working, gate := failpointtest.NewGate(t), failpointtest.NewGate(t)
			a := startAgentAt(
				t, startControlPlane(t),
				pipeline(fmt.Sprintf("with: {log: hello, do: hold, file: %q, cleanup: %q}", working.Path, gate.Path)),
				func(o *scheduler.Options) { o.CleanupWait = wait },
			)
			a.Submit(newDeployment("d", "app"))
			working.Await(t)
			a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
			if wait == time.Minute {
				gate.Await(t) // piped may end a process that takes too long before it comes here
				require.NotContains(t, a.controlPlane.recorded(), "Stage A CANCELLED 0")
				gate.Open()
			}
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
			require.Equal(
				t, wait == time.Minute, slices.Contains(a.controlPlane.atRollback, "A 0 cleaned up"),
				"in the log when the rollback begins",
			)
		})
	}
}

func TestACancelThatArrivesWhileAStageFinishesWins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []string
		status string
	}{
		"others follow":                     {[]string{"with: {}", "with: {}"}, "SUCCESS"},
		"it is the last one":                {[]string{"with: {}"}, "SUCCESS"},
		"it ends the deployment":            {[]string{"with: {do: exit}", "with: {}"}, "EXITED"},
		"it was skipped at once":            {[]string{"with: {do: skip}", "with: {}"}, "SKIPPED"},
		"another one runs at the same time": {[]string{"with: {}", "needs: [], with: {do: exit}"}, "SUCCESS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := failpointtest.NewGate(t)
			points, err := failpoint.Parse("stage-report=1*hold(" + gate.Path + ")->off")
			require.NoError(t, err)
			a := startAgentAt(
				t, startControlPlane(t), pipeline(c.stages...),
				func(o *scheduler.Options) { o.Failpoints, o.Parallel = points, 1 },
			)
			a.Submit(newDeployment("d", "app"))
			gate.Await(t)
			a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
			gate.Open()
			end := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
			require.Equal(t, "Cancelled by carol while executing stage A", end.GetStatusReason())
			calls := a.controlPlane.recorded()
			require.Equal(
				t, []string{"Stage A RUNNING 0", "Stage A " + c.status + " 0", "Status ROLLING_BACK"}, calls[2:5],
			)
			require.Contains(t, calls, "Stage ROLLBACK SUCCESS 0")
			a.controlPlane.await(t, "the command", func() bool {
				return a.controlPlane.handled["c"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
			})
		})
	}
}

func TestAUserWhoCancelsDecidesAboutTheRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off, want, none bool
		rolledBack      bool
		reason          string
	}{
		"autoRollback": {rolledBack: true, reason: "Cancelled by carol while executing stage A"},
		"autoRollback, none is wanted": {
			none: true, reason: "Cancelled by carol without a rollback while executing stage A",
		},
		"autoRollback, one is wanted": {
			want: true, rolledBack: true, reason: "Cancelled by carol with a rollback while executing stage A",
		},
		"no autoRollback": {off: true, reason: "Cancelled by carol while executing stage A"},
		"no autoRollback, none is wanted": {
			off: true, none: true, reason: "Cancelled by carol without a rollback while executing stage A",
		},
		"no autoRollback and one is wanted": {
			off: true, want: true, rolledBack: true,
			reason: "Cancelled by carol with a rollback while executing stage A",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := pipeline("with: {do: block}")
			if c.off {
				spec = strings.Replace(spec, "  planner: {alwaysUsePipeline: true}\n", rollbackOnRequest, 1)
			}
			a := startAgent(t, spec)
			a.Submit(newDeployment("d", "app"))
			a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
			command := cancelCommand("c", "d")
			command.CancelDeployment.ForceRollback, command.CancelDeployment.ForceNoRollback = c.want, c.none
			a.HandleCommands(t.Context(), []*model.Command{command})
			end := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
			require.Equal(t, c.reason, end.GetStatusReason())
			require.Equal(t, c.rolledBack, slices.Contains(a.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0"))
			a.controlPlane.await(t, "the command", func() bool {
				return a.controlPlane.handled["c"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
			})
		})
	}
}

func TestAFailureWithoutAutoRollbackIsNotRolledBack(t *testing.T) {
	t.Parallel()
	a := startAgent(
		t,
		strings.Replace(
			pipeline("with: {do: error}"), "alwaysUsePipeline: true", "alwaysUsePipeline: true, autoRollback: false", 1,
		),
	)
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.NotContains(t, a.controlPlane.recorded(), "Status ROLLING_BACK")
}

func TestALaterCancelStillDecidesAboutTheRollback(t *testing.T) {
	t.Parallel()
	working, gate := failpointtest.NewGate(t), failpointtest.NewGate(t)
	a := startAgentAt(
		t, startControlPlane(t),
		pipeline(fmt.Sprintf("with: {log: hello, do: hold, file: %q, cleanup: %q}", working.Path, gate.Path)),
		func(o *scheduler.Options) { o.CleanupWait = time.Minute },
	)
	a.Submit(newDeployment("d", "app"))
	working.Await(t)
	second := cancelCommand("c2", "d")
	second.CancelDeployment.ForceNoRollback = true
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c1", "d")})
	gate.Await(t)
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c1", "d"), second})
	gate.Open()
	a.controlPlane.awaitEnd(t, "d")
	require.NotContains(t, a.controlPlane.recorded(), "Status ROLLING_BACK")
}

func TestWhatACancelCannotDoIsItsAnswer(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: block}"))
	a.Submit(taken(model.SyncStrategy_PIPELINE, stage("A", 0, running)))
	a.controlPlane.awaitCall(t, "Stage A RUNNING 1")
	both, wanted := cancelCommand("both", "d"), cancelCommand("wanted", "d")
	both.CancelDeployment.ForceRollback, both.CancelDeployment.ForceNoRollback = true, true
	wanted.CancelDeployment.ForceRollback = true
	a.HandleCommands(t.Context(), []*model.Command{both, wanted})
	a.controlPlane.await(t, "both commands", func() bool { return len(a.controlPlane.handled) == 2 })
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, a.controlPlane.command("both").GetStatus())
	require.Contains(t, string(a.controlPlane.command("both").GetOutput()), "give one of them")
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, a.controlPlane.command("wanted").GetStatus())
	require.Contains(t, string(a.controlPlane.command("wanted").GetOutput()), "no rollback stages")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
}

const rollbackOnRequest = "  planner: {alwaysUsePipeline: true, autoRollback: false}\n"

// The reason of a cancellation names its user, whose name may be any text.
func TestTheNameOfAUserDoesNotDecideAboutTheRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		commander  string
		automatic  bool
		rolledBack bool
	}{
		"the application wants none":         {commander: "x with a rollback"},
		"the application wants the rollback": {commander: "x without a rollback", automatic: true, rolledBack: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := pipeline("with: {do: block}")
			if !c.automatic {
				spec = strings.Replace(spec, "  planner: {alwaysUsePipeline: true}\n", rollbackOnRequest, 1)
			}
			a := startAgent(t, spec)
			a.Submit(newDeployment("d", "app"))
			a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
			command := cancelCommand("c", "d")
			command.Commander = c.commander
			a.HandleCommands(t.Context(), []*model.Command{command})
			require.Equal(
				t, "Cancelled by "+c.commander+" while executing stage A",
				a.controlPlane.awaitEnd(t, "d").GetStatusReason(),
			)
			require.Equal(t, c.rolledBack, slices.Contains(a.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0"))
		})
	}
}

func TestTheNextPipedKeepsTheChoiceOfTheUserAboutTheRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, none bool
		rolledBack bool
	}{
		"none":     {rolledBack: true},
		"without":  {none: true},
		"rollback": {want: true, rolledBack: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := startAgent(t, pipeline("with: {do: block}"))
			first.Submit(newDeployment("d", "app"))
			first.controlPlane.awaitCall(t, "Stage A RUNNING 0")
			command := cancelCommand("c", "d")
			command.CancelDeployment.ForceRollback, command.CancelDeployment.ForceNoRollback = c.want, c.none
			first.HandleCommands(t.Context(), []*model.Command{command})
			reason := first.controlPlane.awaitEnd(t, "d").GetStatusReason()
			calls := first.controlPlane.recorded()
			if c.want || c.none {
				require.Contains(t, calls, "Shared metadata")
				require.Less(
					t, slices.Index(calls, "Shared metadata"), slices.Index(calls, "Stage A CANCELLED 0"),
					"saved before the next piped needs it",
				)
			}

			spec := pipeline("with: {}")
			if c.want {
				spec = strings.Replace(spec, "  planner: {alwaysUsePipeline: true}\n", rollbackOnRequest, 1)
			}
			second := startAgent(t, spec)
			undo := stage("ROLLBACK", 0, waiting)
			if c.want {
				undo.Metadata = map[string]string{planner.RollbackMetadataKey: planner.RollbackOnRequest}
			}
			cancelled := because(
				stage("A", 0, model.StageStatus_STAGE_CANCELLED),
				strings.TrimSuffix(reason, " while executing stage A"),
			)
			second.Submit(with(taken(model.SyncStrategy_PIPELINE, cancelled, undo), func(d *model.Deployment) {
				d.MetadataV2 = &model.DeploymentMetadata{
					Shared: &model.DeploymentMetadata_KeyValues{KeyValues: first.controlPlane.shared},
				}
			}))
			second.controlPlane.awaitEnd(t, "d")
			require.Equal(t, c.rolledBack, slices.Contains(second.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0"))
		})
	}
}

func TestCancelWhilePlanning(t *testing.T) {
	t.Parallel()
	a := startAgent(t, "slow")
	a.Submit(newDeployment("d", "app"))
	a.controlPlane.await(t, "the application to be deployed", func() bool { return a.controlPlane.deploying["app"] })
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Equal(t, "Cancelled by carol while planning", end.GetStatusReason())
	a.controlPlane.await(t, "the command", func() bool { return a.controlPlane.handled["c"] != nil })
}

func TestCancelOfAWaitingDeployment(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: block}"))
	a.Submit(newDeployment("d1", "app"), newDeployment("d2", "app"))
	a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d2")})
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d2").GetStatus())
	a.controlPlane.await(t, "the command", func() bool { return a.controlPlane.handled["c"] != nil })
}

func TestCancelOfAnEndedOrUnknownDeploymentFailsWithTheReason(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	a.controlPlane.known["old"] = with(
		newDeployment("old", "app"), func(d *model.Deployment) { d.Status = model.DeploymentStatus_DEPLOYMENT_SUCCESS },
	)
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c1", "old"), cancelCommand("c2", "never")})
	a.controlPlane.await(t, "both commands", func() bool { return len(a.controlPlane.handled) == 2 })
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, a.controlPlane.command("c1").GetStatus())
	require.Contains(t, string(a.controlPlane.command("c1").GetOutput()), "has ended already: SUCCESS")
	require.Contains(t, string(a.controlPlane.command("c2").GetOutput()), "there is no deployment")
}

func TestAnApprovalThatComesTooLateIsAnswered(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}", "with: {do: block}"))
	a.controlPlane.known["old"] = with(
		taken(model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_SUCCESS), stage("B", 1, waiting)),
		func(d *model.Deployment) {
			d.Status = model.DeploymentStatus_DEPLOYMENT_FAILURE
		},
	)
	a.Submit(newDeployment("d", "app"))
	a.controlPlane.awaitCall(t, "Stage B RUNNING 0")
	plan := a.controlPlane.plan("d").GetStages()
	a.controlPlane.mu.Lock()
	plan[0].Status, plan[1].Status = model.StageStatus_STAGE_SUCCESS, running
	a.controlPlane.known["d"] = with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Stages = model.DeploymentStatus_DEPLOYMENT_RUNNING, plan
	})
	a.controlPlane.mu.Unlock()
	command := func(id, deployment, stage string) *model.Command {
		return &model.Command{
			Id:           id,
			Type:         model.Command_APPROVE_STAGE,
			Commander:    "carol",
			DeploymentId: deployment,
			StageId:      stage,
		}
	}
	commands := []*model.Command{
		command(
			"ended", "d", plan[0].GetId(),
		), command("runs", "d", plan[1].GetId()), command("over", "old", "A"), command("never", "old", "B"),
		command("none", "absent", "A"), command("other", "d", "nothing"),
	}
	a.commands.Replace(commands)
	a.HandleCommands(t.Context(), commands)
	a.controlPlane.await(t, "the answers", func() bool { return len(a.controlPlane.handled) == 5 })
	for id, why := range map[string]string{
		"ended": "stage A has ended already: SUCCESS", "over": "stage A has ended already: SUCCESS",
		"never": "deployment old has ended already, without stage B",
		"none":  `no deployment "absent" of this piped`, "other": `deployment d has no stage "nothing"`,
	} {
		require.Equal(t, model.CommandStatus_COMMAND_FAILED, a.controlPlane.command(id).GetStatus(), id)
		require.Contains(t, string(a.controlPlane.command(id).GetOutput()), why, id)
	}
	require.Len(t, a.commands.ForStage("d", plan[1].GetId()), 1, "that of the running stage waits for its end")
}
