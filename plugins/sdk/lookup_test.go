// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

func TestDeployTargetsAreFoundByNameAndLabels(t *testing.T) {
	t.Parallel()
	east := sdk.DeployTarget[int]{Name: "east", Labels: map[string]string{"env": "prod", "zone": "a"}, Config: 1}
	west := sdk.DeployTarget[int]{Name: "west", Labels: map[string]string{"env": "prod", "zone": ""}, Config: 2}
	all := []sdk.DeployTarget[int]{east, west}

	found, err := sdk.FindTarget(all, "west")
	require.NoError(t, err)
	require.Equal(t, west, found)
	_, err = sdk.FindTarget(all, "north")
	require.EqualError(t, err, `there is no deploy target "north", only east, west`)
	_, err = sdk.FindTarget[int](nil, "north")
	require.ErrorContains(t, err, "and no other one")

	require.Equal(t, all, sdk.TargetsWith(all, nil))
	require.Equal(t, all, sdk.TargetsWith(all, map[string]string{"env": "prod"}))
	require.Equal(t, []sdk.DeployTarget[int]{east}, sdk.TargetsWith(all, map[string]string{"env": "prod", "zone": "a"}))
	require.Empty(t, sdk.TargetsWith(all, map[string]string{"owner": ""}), "an absent label has no value")
}

func TestThePipelineOfASourceIsRead(t *testing.T) {
	t.Parallel()
	source := sdktest.Source(&sdktest.Commit{Hash: "c1", Config: `
spec:
  pipeline:
    stages:
      - {name: WAIT, with: {duration: 5s}}
      - {name: SYNC, desc: Bring it out}
`}, sdk.None{})
	stages, err := source.Pipeline()
	require.NoError(t, err)
	require.Equal(t, []sdk.StageConfig{
		{Name: "WAIT", Options: []byte(`{"duration":"5s"}`)},
		{Name: "SYNC", Desc: "Bring it out", Index: 1, Options: []byte("{}")},
	}, stages)

	source.ConfigData = []byte("spec: {}")
	stages, err = source.Pipeline()
	require.NoError(t, err)
	require.Empty(t, stages)
	source.ConfigData = []byte("spec: {pipeline: {stages: 5}}")
	_, err = source.Pipeline()
	require.ErrorContains(t, err, "read the pipeline of app.pipecd.yaml at commit c1")
}
