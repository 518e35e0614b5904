// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestThePluginThatAPlanWaitsForIsReadFromItsNote(t *testing.T) {
	t.Parallel()
	pending := func(note string) *model.Deployment {
		return &model.Deployment{
			Status: model.DeploymentStatus_DEPLOYMENT_PENDING,
			MetadataV2: &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{
				KeyValues: map[string]string{planningWaitKey: note},
			}},
		}
	}
	plugin, since := planningWait(pending(`{"plugin":"greeter","since":1795230000500}`))
	require.Equal(t, "greeter", plugin)
	require.EqualValues(t, 1795230000500, since.AsTime().UnixMilli())
	for _, note := range []string{"", "{", `{"since":1}`, `{"plugin":7}`} {
		plugin, since = planningWait(pending(note))
		require.Empty(t, plugin)
		require.Nil(t, since)
	}
	planned := pending(`{"plugin":"greeter","since":1}`)
	planned.Status = model.DeploymentStatus_DEPLOYMENT_RUNNING
	plugin, _ = planningWait(planned)
	require.Empty(t, plugin, "its planning is over")
}
