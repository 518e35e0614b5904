// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package supersede

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/removal"
)

func TestANewerCommitDoesNotEndARemoval(t *testing.T) {
	t.Parallel()
	with := func(notes map[string]string) *model.Deployment {
		return &model.Deployment{MetadataV2: &model.DeploymentMetadata{
			Shared: &model.DeploymentMetadata_KeyValues{KeyValues: notes},
		}}
	}
	require.True(t, Possible(with(nil)))
	require.False(t, Possible(with(removal.Notes())))
}
