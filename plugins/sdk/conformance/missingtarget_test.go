// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestADeployTargetThatIsMissingIsFoundInTheOutput(t *testing.T) {
	t.Parallel()
	without := sdk.Settings{Name: "shelf"}
	for output, found := range map[string]bool{
		"shelf: plugin shelf deploys but has no deploy target; add at least one under deployTargets": true,
		"Error: at least one deploy target is required":                                              true,
		"no such file": false, "deploy target east: wrong zone": false,
	} {
		require.Equal(t, found, missingTarget(without, output) != "", output)
	}
	with := sdk.Settings{DeployTargets: []sdk.DeployTargetConfig{{Name: "east"}}}
	require.Equal(t, "", missingTarget(with, "no deploy target"), "another one is meant")
	require.Contains(t, missingTarget(without, "no deploy target"), "--config FILE")
}
