// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// plan is that of a plugin whose stages have names that no other plugin has.
var plan = engine.StagePlan{
	Name:     func(single string) string { return "X_" + single },
	SyncText: "Apply",
	Check: func(name string, options []byte) error {
		if strings.Contains(string(options), "typo") {
			return errors.New(name + " has a typo")
		}
		return nil
	},
}

func TestAPipelineIsPlannedWithTheNamesOfThePlugin(t *testing.T) {
	t.Parallel()
	require.Contains(t, plan.Stages(), "X_"+config.StageSync)
	require.Len(t, plan.Stages(), len(config.Stages()))

	request := &sdk.PipelineRequest[config.Plugin]{Rollback: true, Stages: []sdk.StageConfig{
		{Index: 3, Name: "X_K8S_SYNC", Desc: "later"}, {Index: 1, Name: "X_K8S_CANARY_ROLLOUT"},
	}}
	stages, err := plan.BuildPipelineStages(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, []sdk.Stage{
		{Index: 3, Name: "X_K8S_SYNC", Desc: "later"}, {Index: 1, Name: "X_K8S_CANARY_ROLLOUT"},
		{Index: 1, Name: "X_K8S_ROLLBACK", Rollback: true},
	}, stages)

	request.Stages[0].Options = []byte(`{"typo": 1}`)
	_, err = plan.BuildPipelineStages(t.Context(), request)
	require.EqualError(t, err, "stage 4 of the pipeline: X_K8S_SYNC has a typo")
	stages, err = plan.BuildPipelineStages(t.Context(), &sdk.PipelineRequest[config.Plugin]{Rollback: true})
	require.NoError(t, err)
	require.Empty(t, stages, "no stage of this plugin, so nothing to roll back")
}

func TestAQuickSyncIsOneStageAndItsRollback(t *testing.T) {
	t.Parallel()
	for rollback, want := range map[bool][]sdk.Stage{
		false: {{Name: "X_K8S_SYNC", Desc: "Apply"}},
		true: {{Name: "X_K8S_SYNC", Desc: "Apply"},
			{Name: "X_K8S_ROLLBACK", Desc: "Rollback the deployment", Rollback: true}},
	} {
		stages, err := plan.BuildQuickSyncStages(t.Context(), &sdk.QuickSyncRequest[config.Plugin]{Rollback: rollback})
		require.NoError(t, err)
		require.Equal(t, want, stages)
	}
}

func TestEachImageOfAllDeployTargetsIsOneVersion(t *testing.T) {
	t.Parallel()
	var versions engine.Versions
	require.Empty(t, versions.List())
	for _, image := range []string{"registry.example/web:v1", "registry.example/web:v2", "registry.example/web:v1"} {
		text, err := json.Marshal(map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": "main", "image": image}}}}},
		})
		require.NoError(t, err)
		manifests, err := manifest.Parse(text, "web.json")
		require.NoError(t, err)
		versions.Add(manifests, nil)
	}
	require.Equal(t, []sdk.ArtifactVersion{
		{Name: "web", Version: "v1", URL: "registry.example/web:v1"},
		{Name: "web", Version: "v2", URL: "registry.example/web:v2"},
	}, versions.List())
}
