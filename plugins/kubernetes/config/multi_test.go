// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

func TestAFailurePolicySaysHowManyMayFail(t *testing.T) {
	t.Parallel()
	for text, allowed := range map[string][]int{ // of 4 targets
		`"all"`: {0}, `""`: {0}, `null`: {0}, `{"maxFailed": 0}`: {0},
		`"any"`: {0, 1, 2, 3}, `{"maxFailed": 2}`: {0, 1, 2}, `{"maxFailed": 9}`: {0, 1, 2, 3},
	} {
		var p config.FailurePolicy
		require.NoError(t, json.Unmarshal([]byte(text), &p), text)
		var got []int
		for failed := range 5 {
			if p.Allows(failed, 4) {
				got = append(got, failed)
			}
		}
		require.Equal(t, allowed, got, text)
	}
	for text, says := range map[string]string{
		`"most"`: "use all, any, or {maxFailed: 1}", `{}`: "maxFailed must be",
		`{"maxFailed": -1}`:        "maxFailed must be",
		`{"maxFailed": 1, "x": 2}`: "is not all, any", `{"maxFailed": "1"}`: "is not all, any", `2`: "is not all, any",
		`["all"]`: "is not all, any",
	} {
		require.ErrorContains(t, json.Unmarshal([]byte(text), new(config.FailurePolicy)), says, text)
	}
}

func TestATargetHasTheEntryWithItsNameOrElseTheFirstWithItsLabels(t *testing.T) {
	t.Parallel()
	app, err := decode(t,
		`{"input": {"manifests": ["base.yaml"], "namespace": "shop", "kustomizeOptions": {"enable-helm": "true"},
		"multiTargets": [
		{"target": {"labels": {"region": "asia"}}, "manifests": ["asia.yaml"]},
		{"target": {"labels": {"region": "asia", "size": "small"}}, "manifests": ["small.yaml"]},
		{"target": {"name": "tokyo", "labels": {"region": "nowhere"}}, "kustomizeDir": "overlays/tokyo",
		"kustomizeOptions": {"reorder": "none"}},
		{"target": {"name": "plain"}}]}}`)
	require.NoError(t, err)
	osaka := app.AtTarget("osaka", map[string]string{"region": "asia", "size": "small"})
	require.Equal(t, []string{"asia.yaml"}, osaka.Input.Manifests)
	require.Equal(t, "shop", osaka.Input.Namespace)
	require.Equal(t, "osaka", osaka.DeployTarget())
	require.Empty(t, osaka.Folder())
	tokyo := app.AtTarget("tokyo", map[string]string{"region": "asia"})
	require.Empty(t, tokyo.Input.Manifests, "those next to the overlay are not its")
	require.Equal(t, "overlays/tokyo", tokyo.Folder())
	require.Equal(t, map[string]string{"reorder": "none"}, tokyo.Input.KustomizeOptions)
	plain := app.AtTarget("plain", nil)
	require.Equal(t, []string{"base.yaml"}, plain.Input.Manifests)
	require.Equal(t, map[string]string{"enable-helm": "true"}, plain.Input.KustomizeOptions)
	require.Nil(t, app.AtTarget("london", map[string]string{"region": "europe"}))
	require.Empty(t, app.DeployTarget(), "the application itself is left as it was")

	charted, err := decode(t, `{"input": {"helmChart": {"path": "chart"}, "multiTargets": [
		{"target": {"name": "tokyo"}}, {"target": {"name": "osaka"}, "manifests": ["a.yaml"]},
		{"target": {"name": "kyoto"}, "kustomizeDir": "k"}]}}`)
	require.NoError(t, err)
	require.NotNil(t, charted.AtTarget("tokyo", nil).Input.HelmChart)
	require.Nil(t, charted.AtTarget("osaka", nil).Input.HelmChart)
	require.Nil(t, charted.AtTarget("kyoto", nil).Input.HelmChart)

	everywhere, err := decode(t, `{}`)
	require.NoError(t, err)
	require.NotNil(t, everywhere.AtTarget("any", nil))
}

func TestEntriesForTargetsAreChecked(t *testing.T) {
	t.Parallel()
	_, err := decode(t,
		`{"input": {"multiTargets": [{"target": {}}, {"target": {"name": "a"}}, {"target": {"name": "a"}}, `+
			`{"target": {"name": "b"}, "kustomizeDir": "../x"}]}}`)
	require.ErrorContains(t, err, "input.multiTargets[0].target: give the name")
	require.ErrorContains(t, err, `input.multiTargets[2].target.name: "a" has an entry already, input.multiTargets[1]`)
	require.ErrorContains(t, err, `input.multiTargets[3].kustomizeDir: "../x"`)
}

func TestAtATargetThePipelineIsTheStagesThatGoThere(t *testing.T) {
	t.Parallel()
	app, err := decode(t, `{}`)
	require.NoError(t, err)
	const text = `spec:
  pipeline:
    stages:
      - {name: K8S_MULTI_CANARY_ROLLOUT, with: {multiTargets: [tokyo]}}
      - {name: WAIT}
      - {name: K8S_SYNC}
      - {name: K8S_MULTI_PRIMARY_ROLLOUT, with: {prune: true}}
`
	names := func(app *config.Application) (list []string, indexes []int) {
		stages, err := app.PipelineStages([]byte(text))
		require.NoError(t, err)
		for _, s := range stages {
			list, indexes = append(list, s.Name), append(indexes, s.Index)
		}
		return list, indexes
	}
	list, indexes := names(app.AtTarget("tokyo", nil))
	require.Equal(t, []string{"K8S_CANARY_ROLLOUT", "K8S_PRIMARY_ROLLOUT"}, list)
	require.Equal(t, []int{0, 3}, indexes)
	list, _ = names(app.AtTarget("london", nil))
	require.Equal(t, []string{"K8S_PRIMARY_ROLLOUT"}, list)
	list, _ = names(app)
	require.Len(t, list, 4)
	_, err = app.AtTarget("tokyo", nil).PipelineStages([]byte("spec: {pipeline: {stages: [{name: K8S_MULTI_SYNC, " +
		"with: {multiTargets: x}}]}}"))
	require.ErrorContains(t, err, "stage 1 of the pipeline: K8S_MULTI_SYNC")
}

// FuzzApplicationOfManyClusters looks for configurations that are accepted and then cannot be used.
func FuzzApplicationOfManyClusters(f *testing.F) {
	f.Add([]byte(
		`{"input": {"multiTargets": [{"target": {"name": "tokyo"}, "kustomizeDir": "x"}]}, `+
			`"quickSync": {"failurePolicy": "any"}}`),
		[]byte("spec: {pipeline: {stages: [{name: K8S_MULTI_SYNC, with: {multiTargets: [tokyo], failurePolicy: "+
			"{maxFailed: 1}}}]}}"))
	f.Add([]byte(`{"input": {"multiTargets": [{"target": {"labels": {"a": "b"}}}]}}`), []byte("spec: {}"))
	f.Fuzz(func(t *testing.T, application, file []byte) {
		var app config.Application
		if json.Unmarshal(application, &app) != nil || app.Validate() != nil {
			return
		}
		at := app.AtTarget("tokyo", map[string]string{"a": "b"})
		if at == nil {
			require.NotEmpty(t, app.Input.MultiTargets)
			return
		}
		require.True(t, at.Folder() == "" || filepath.IsLocal(at.Folder()))
		stages, err := at.PipelineStages(file)
		if err != nil {
			return
		}
		for _, s := range stages {
			require.NotContains(t, s.Name, "K8S_MULTI_K8S")
			_ = config.CheckOptions(s.Name, s.With)
		}
		policy := app.QuickSync.FailurePolicy
		require.True(t, policy.Allows(0, 3))
		require.False(t, policy.Allows(3, 3))
	})
}

func TestAWaitForAClusterIsNotNegative(t *testing.T) {
	t.Parallel()
	var target config.DeployTarget
	require.NoError(t, json.Unmarshal([]byte(`{"connectTimeout": "20s"}`), &target))
	require.NoError(t, target.Validate())
	require.Equal(t, 20*time.Second, target.ConnectTimeout.Std())
	target.ConnectTimeout = -1
	require.ErrorContains(t, target.Validate(), "connectTimeout: must not be negative")
}
