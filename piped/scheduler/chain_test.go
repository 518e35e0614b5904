// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

func chained(id string) *model.Deployment {
	return with(
		newDeployment(id, "app"),
		func(d *model.Deployment) { d.DeploymentChainId, d.DeploymentChainBlockIndex = "chain", 1 },
	)
}

func TestADeploymentOfAChainAsksAgainWhenTheControlPlaneReportsChanges(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	mine := false
	cp.turn = func() *pipedservice.InChainDeploymentPlannableResponse {
		return &pipedservice.InChainDeploymentPlannableResponse{Plannable: mine}
	}
	a := startAgentAt(t, cp, pipeline("with: {}"))
	a.Submit(chained("d"))
	cp.awaitCall(t, "Turn")
	require.Nil(t, cp.plan("d"))
	cp.mu.Lock()
	mine = true
	cp.mu.Unlock()
	a.Submit(chained("d")) // the control plane lists it once more
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.EqualValues(t, 1, cp.awaitEnd(t, "d").GetDeploymentChainBlockIndex(), "reports name the place in the chain")
}

func TestADeploymentOfAChainThatFailedBeforeIsCancelledWithTheReason(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	cp.turn = func() *pipedservice.InChainDeploymentPlannableResponse {
		return &pipedservice.InChainDeploymentPlannableResponse{Cancel: true, CancelReason: "block 0 failed"}
	}
	a := startAgentAt(t, cp, pipeline("with: {}"))
	a.Submit(chained("d"))
	end := cp.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Equal(t, "block 0 failed", end.GetStatusReason())
}

func TestADeploymentOfALostChainFailsAtOnce(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	a.Submit(chained("d"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), "ask for the turn in deployment chain chain")
	require.False(t, slices.Contains(a.controlPlane.recorded(), "Planned PIPELINE"))
}
