// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestTheVerdictNamesEveryFailureAndItsReason(t *testing.T) {
	t.Parallel()
	require.NoError(t, verdictOf(verdict{}))
	err := verdictOf(verdict{failed: []*deckv1.Deployment{
		{ApplicationName: "web", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, StatusReason: "no image"},
		{ApplicationName: "db", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, StatusReason: "by ann"},
	}})
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.ErrorContains(t, err, "no image")
	require.ErrorContains(t, err, "by ann")
	require.ErrorAs(t, verdictOf(verdict{broken: []*deckv1.Application{{Name: "web", SyncReason: "app.pipecd.yaml:3:1"}}}), &failure)
	require.Equal(t, exit.WrongUsage, failure.Code)
}
