// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// withFaults deploys an application whose stages A and B write a line each.
func withFaults(t *testing.T, rules ...string) *agent {
	t.Helper()
	return deployWithFaults(t, pipeline("with: {log: begun}", "with: {log: begun}"), rules...)
}

func deployWithFaults(t *testing.T, spec string, rules ...string) *agent {
	t.Helper()
	faults, err := fault.Parse(rules)
	require.NoError(t, err)
	a := startAgentAt(t, startControlPlane(t), spec, func(o *scheduler.Options) { o.Faults = faults })
	a.Submit(newDeployment("d", "app"))
	return a
}

func TestAStageWhosePluginIsKilledOnPurposeSaysSoAndRunsAgain(t *testing.T) {
	t.Parallel()
	a := withFaults(t, "A: kill@log 1; flood 2500")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Contains(t, a.controlPlane.recorded(), "Stage A SUCCESS 1")
	log := a.controlPlane.stageLog()
	require.Contains(t, log, "A 0 fault injected: kill@log 1; flood 2500\n")
	require.Contains(t, log, "A 0 fault injected: line 1 of 2500\n")
	require.Contains(t, log, "A 0 fault injected: line 2500 of 2500\n")
	require.Equal(t, 2500, strings.Count(log, "fault injected: line "))
	require.Contains(t, log, `A 0 fault injected: kill@log 1: plugin "p" was ended by piped because `+
		"a fault is injected: kill@log 1; the stage is run again")
	require.NotContains(t, log, "A 1 fault injected")
	require.NotContains(t, log, "B 0 fault injected")
}

func TestAnAnswerThatIsReplacedOnPurposeFailsTheDeployment(t *testing.T) {
	t.Parallel()
	a := withFaults(t, "B: status failure")
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), "Stage B failed: fault injected: status failure")
	require.Contains(t, a.controlPlane.stageLog(), "B 0 begun", "the plugin has executed the stage")
}

func TestAStageThatHangsOnPurposeIsCancelled(t *testing.T) {
	t.Parallel()
	a := withFaults(t, "A: hang")
	a.controlPlane.awaitCall(t, "Stage A RUNNING 0")
	require.Equal(t, "fault injected: hang", a.controlPlane.report("A").GetStatusReason())
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.NotContains(t, a.controlPlane.stageLog(), "A 0 begun")
	require.Contains(t, a.controlPlane.report("A").GetStatusReason(), "fault injected: hang: ")
}

func TestCallsOfThePluginFailOnPurpose(t *testing.T) {
	t.Parallel()
	a := withFaults(t, "A: unavailable")
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), "Stage A failed: fault injected: unavailable")
}

func TestARealEndNextToAFaultIsNotTakenForOneOnPurpose(t *testing.T) {
	t.Parallel()
	a := deployWithFaults(t, pipeline("with: {do: crash-once}", "with: {do: error}"),
		"A: kill@log 99; flood 1", "B: kill@log 99; delay 1ms")
	end := a.controlPlane.awaitEnd(t, "d")
	require.Contains(t, end.GetStatusReason(), "Stage B failed: the moon is missing")
	log := a.controlPlane.stageLog()
	require.Contains(t, log, `A 0 plugin "p" exited with code 7`)
	require.NotContains(t, log, "A 0 fault injected: kill@log 99; flood 1: ")
}

func TestThePluginSaysWhichFaultsOfItsCallsToTheClusterHaveHappened(t *testing.T) {
	t.Parallel()
	faults, err := fault.Parse([]string{"cluster: unavailable 3; hang", "B/cluster/apply: conflict"})
	require.NoError(t, err)
	plugin := pluginWith(t, map[string]any{"stages": []string{"A", "B"}, "clusterFaults": true})
	a := startAgentWith(t, startControlPlane(t), []config.Plugin{plugin}, always(pipeline("", "")),
		func(o *scheduler.Options) { o.Faults = faults })
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, "fault injected: cluster: unavailable 3", a.controlPlane.report("A").GetStatusReason())
	require.Equal(t, "fault injected: cluster: hang", a.controlPlane.report("B").GetStatusReason(),
		"what did not happen in the stage before it")
}
