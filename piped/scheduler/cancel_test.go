// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
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
	require.Equal(t, "Cancelled by carol during stage A", end.GetStatusReason())
	require.Contains(t, a.controlPlane.recorded(), "Stage A CANCELLED 0")
	require.Contains(t, a.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0")
	a.controlPlane.await(t, "the command", func() bool {
		return a.controlPlane.handled["c"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
	})
}

func TestTheRollbackWaitsForTheCleanupOfACancelledStage(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"that ends": time.Minute, "that takes too long": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			working, gate := failpointtest.NewGate(t), failpointtest.NewGate(t)
			a := startAgentAt(t, startControlPlane(t), pipeline(fmt.Sprintf("with: {log: hello, do: hold, file: %q, cleanup: %q}", working.Path, gate.Path)),
				func(o *scheduler.Options) { o.CleanupWait = wait })
			a.Submit(newDeployment("d", "app"))
			working.Await(t)
			a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
			gate.Await(t)
			if wait == time.Minute {
				require.NotContains(t, a.controlPlane.recorded(), "Stage A CANCELLED 0")
				gate.Open()
			}
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
			require.Equal(t, wait == time.Minute, slices.Contains(a.controlPlane.atRollback, "A 0 cleaned up"), "in the log when the rollback begins")
		})
	}
}

func TestCancelWithoutRollback(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: block}"))
	a.Submit(newDeployment("d", "app"))
	a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
	command := cancelCommand("c", "d")
	command.CancelDeployment.ForceNoRollback = true
	a.HandleCommands(t.Context(), []*model.Command{command})
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.NotContains(t, a.controlPlane.recorded(), "Status ROLLING_BACK")
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
	a.controlPlane.known["old"] = with(newDeployment("old", "app"), func(d *model.Deployment) { d.Status = model.DeploymentStatus_DEPLOYMENT_SUCCESS })
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c1", "old"), cancelCommand("c2", "never")})
	a.controlPlane.await(t, "both commands", func() bool { return len(a.controlPlane.handled) == 2 })
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, a.controlPlane.command("c1").GetStatus())
	require.Contains(t, string(a.controlPlane.command("c1").GetOutput()), "has ended already: SUCCESS")
	require.Contains(t, string(a.controlPlane.command("c2").GetOutput()), "there is no deployment")
}
