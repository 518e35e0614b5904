// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

func TestABreakpointOutlastsTheTimeoutsOfItsStageAndDeployment(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	gate := failpointtest.NewGate(t)
	limits := fmt.Sprintf("  timeout: %s\n", timeout+time.Second)
	a := startAgentAt(t, startControlPlane(t), pipeline(fmt.Sprintf("timeout: %s, %s", timeout, hold(gate)))+limits,
		func(o *scheduler.Options) { o.CleanupWait = time.Second })
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	plugin := a.host.Status()[0]
	release := plugintest.Debug(t, testPlugin, int(plugin.GetPid()))
	require.Eventually(t, func() bool { return a.host.HeldTime() > 2*timeout }, time.Minute, 10*time.Millisecond)
	release()
	gate.Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, plugin.GetPid(), a.host.Status()[0].GetPid())
	require.Zero(t, a.host.Status()[0].GetRestarts())
}

// A cancelled stage at a breakpoint ends once its author lets it go on; its process is not ended for that.
func TestACancelledStageAtABreakpointIsWaitedFor(t *testing.T) {
	t.Parallel()
	const patience = time.Second
	gate := failpointtest.NewGate(t)
	a := startAgentAt(t, startControlPlane(t), pipeline(hold(gate)),
		func(o *scheduler.Options) { o.CleanupWait = patience })
	a.Submit(newDeployment("d", "app"))
	gate.Await(t)
	plugin := a.host.Status()[0]
	release := plugintest.Debug(t, testPlugin, int(plugin.GetPid()))
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	require.Eventually(t, func() bool { return a.host.HeldTime() > 3*patience }, time.Minute, 10*time.Millisecond)
	require.Equal(t, plugin.GetPid(), a.host.Status()[0].GetPid(), "%v", a.host.Status()[0])
	release()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, plugin.GetPid(), a.host.Status()[0].GetPid())
}
