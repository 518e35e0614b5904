// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestInsightsCountTheDeploymentsThatAreKept(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	report, err := p.deck.GetInsights(ctx, &deckv1.GetInsightsRequest{})
	require.NoError(t, err)
	require.Zero(t, report.GetAll().GetSucceeded())
	require.False(t, report.GetFrom().IsValid(), "nothing was deployed")

	p.runStage(t, &model.PipelineStage{Name: "X"})
	report, err = p.deck.GetInsights(ctx, &deckv1.GetInsightsRequest{})
	require.NoError(t, err)
	require.Empty(t, report.GetApplications(), "it has not ended")

	p.end(t, model.DeploymentStatus_DEPLOYMENT_FAILURE)
	report, err = p.deck.GetInsights(ctx, &deckv1.GetInsightsRequest{})
	require.NoError(t, err)
	require.EqualValues(t, 1, report.GetAll().GetFailed())
	require.Len(t, report.GetApplications(), 1)
	require.Equal(t, "a", report.GetApplications()[0].GetApplicationId())
	require.EqualValues(t, 1, report.GetApplications()[0].GetFailing())
}
