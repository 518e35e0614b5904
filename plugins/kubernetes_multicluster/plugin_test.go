// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// start runs the plugin with two clusters that do not exist: nothing here may touch them.
func start(t *testing.T) *wiretest.Harness {
	t.Helper()
	config := json.RawMessage(`{"kubeConfigPath": "/does/not/exist"}`)
	return wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes_multicluster",
		DeployTargets: []sdk.DeployTargetConfig{
			{Name: "tokyo", Labels: map[string]string{"region": "asia"}, Config: config},
			{Name: "london", Labels: map[string]string{"region": "europe"}, Config: config},
		},
	})
}

func manifestsOf(image string) string {
	return `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "` + image + `"}]}
`
}

// source has the files asia/all.yaml and europe/all.yaml, and one for all.
func source(t *testing.T, plugin, asia, europe string) *common.DeploymentSource {
	t.Helper()
	dir := t.TempDir()
	for name, image := range map[string]string{"all.yaml": asia, "asia/all.yaml": asia, "europe/all.yaml": europe} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(manifestsOf(image)), 0o600))
	}
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789", ApplicationConfigFilename: "app.pipecd.yaml",
		ApplicationConfig: []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
			"  plugins:\n    kubernetes_multicluster: " + plugin + "\n"),
	}
}

func planInput(h *wiretest.Harness, running, target *common.DeploymentSource) *deployment.PlanPluginInput {
	return &deployment.PlanPluginInput{Deployment: h.Request("K8S_MULTI_SYNC", "").GetInput().GetDeployment(),
		RunningDeploymentSource: running, TargetDeploymentSource: target}
}

const apart = `{input: {multiTargets: [{target: {name: tokyo}, manifests: [asia]}, ` +
	`{target: {labels: {region: europe}}, manifests: [europe]}]}}`

func TestTheStagesAreThoseOfPipeCDAndTwoOfOurs(t *testing.T) {
	t.Parallel()
	resp, err := start(t).Deployment.FetchDefinedStages(t.Context(), &deployment.FetchDefinedStagesRequest{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"K8S_MULTI_SYNC", "K8S_MULTI_PRIMARY_ROLLOUT", "K8S_MULTI_CANARY_ROLLOUT", "K8S_MULTI_CANARY_CLEAN",
		"K8S_MULTI_BASELINE_ROLLOUT", "K8S_MULTI_BASELINE_CLEAN", "K8S_MULTI_TRAFFIC_ROUTING", "K8S_MULTI_TEST",
		"K8S_MULTI_ROLLBACK", "K8S_MULTI_REMOVE",
	}, resp.GetStages())
}

func TestVersionsAreThoseOfAllTargets(t *testing.T) {
	t.Parallel()
	h := start(t)
	for plugin, want := range map[string][]string{
		"{}":  {"app:v1"},
		apart: {"app:v1", "app:v2"},
		`{input: {multiTargets: [{target: {name: london}, manifests: [europe]}]}}`: {"app:v2"},
	} {
		resp, err := h.Deployment.DetermineVersions(t.Context(),
			&deployment.DetermineVersionsRequest{Input: planInput(h, nil, source(t, plugin, "app:v1", "app:v2"))})
		require.NoError(t, err)
		var got []string
		for _, v := range resp.GetVersions() {
			got = append(got, v.GetUrl())
		}
		require.Equal(t, want, got, plugin)
	}
}

func TestOneTargetThatNeedsThePipelineIsEnough(t *testing.T) {
	t.Parallel()
	h := start(t)
	for name, c := range map[string]struct {
		plugin                 string
		fromA, fromE, toA, toE string
		strategy               model.SyncStrategy
		summary                string
	}{
		"one has changed": {
			apart, "app:v1", "app:v1", "app:v1", "app:v2", model.SyncStrategy_PIPELINE,
			"Sync progressively because of updating image app from v1 to v2 (at london)",
		},
		"all have changed in the same way": {
			apart, "app:v1", "app:v1", "app:v2", "app:v2", model.SyncStrategy_PIPELINE,
			"Sync progressively because of updating image app from v1 to v2",
		},
		"both have changed in their own ways": {
			apart, "app:v1", "app:v1", "app:v2", "app:v3", model.SyncStrategy_PIPELINE,
			"Sync progressively because of updating image app from v1 to v2 (at tokyo); Sync progressively " +
				"because of updating image app from v1 to v3 (at london)",
		},
		"none has changed": {
			apart, "app:v1", "app:v1", "app:v1", "app:v1", model.SyncStrategy_QUICK_SYNC,
			"Quick sync by applying all manifests: no pod template and no configuration changes",
		},
		"the one that has changed is not deployed to": {
			`{input: {multiTargets: [{target: {name: tokyo}, manifests: [asia]}]}}`, "app:v1", "app:v1", "app:v1",
			"app:v2", model.SyncStrategy_QUICK_SYNC,
			"Quick sync by applying all manifests: no pod template and no configuration changes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resp, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{
				Input: planInput(h, source(t, c.plugin, c.fromA, c.fromE), source(t, c.plugin, c.toA, c.toE)),
			})
			require.NoError(t, err)
			require.Equal(t, c.strategy, resp.GetSyncStrategy())
			require.Equal(t, c.summary, resp.GetSummary())
		})
	}
}

func TestATargetThatIsNewIsSyncedAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t)
	before := `{input: {multiTargets: [{target: {name: tokyo}, manifests: [asia]}]}}`
	resp, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{
		Input: planInput(h, source(t, before, "app:v1", "app:v1"), source(t, apart, "app:v1", "app:v1")),
	})
	require.NoError(t, err)
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, resp.GetSyncStrategy())
	require.Contains(t, resp.GetSummary(), "Quick sync because nothing has been deployed before (at london)")
}

func TestAPlanWithoutTargetsIsMadeOfTheConfiguration(t *testing.T) {
	t.Parallel()
	h := start(t)
	for plugin, want := range map[string]int{"{}": 1, apart: 2} {
		in := planInput(h, nil, source(t, plugin, "app:v1", "app:v2"))
		in.Deployment.DeployTargetsByPlugin = nil // as in PipeCD's plan previews
		resp, err := h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: in})
		require.NoError(t, err)
		require.Len(t, resp.GetVersions(), want)
	}
}

func TestAnApplicationThatLeavesOutAllItsTargetsIsAMistake(t *testing.T) {
	t.Parallel()
	h := start(t)
	nowhere := `{input: {multiTargets: [{target: {name: osaka}}]}}`
	_, err := h.Deployment.DetermineStrategy(t.Context(),
		&deployment.DetermineStrategyRequest{Input: planInput(h, nil, source(t, nowhere, "a:1", "a:1"))})
	require.ErrorContains(t, err, "input.multiTargets has an entry for none of the application's deploy targets, "+
		"which are: tokyo, london")
}

func TestAFolderThatIsNotThereIsNamedWithItsTarget(t *testing.T) {
	t.Parallel()
	h := start(t)
	missing := `{input: {multiTargets: [{target: {name: tokyo}, kustomizeDir: overlays/tokyo}, ` +
		`{target: {name: london}, manifests: [nowhere.yaml]}]}}`
	_, err := h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: planInput(h, nil, source(t, missing, "a:1", "a:1"))})
	require.ErrorContains(t, err, "for deploy target tokyo: ")
	require.ErrorContains(t, err, "overlays/tokyo")
}

func TestMistakesInOptionsAreSeenBeforeAnythingRuns(t *testing.T) {
	t.Parallel()
	h := start(t)
	build := func(name, with string) error {
		_, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
			Rollback: true, Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: name, Index: 1,
				Config: []byte(with)}},
		})
		return err
	}
	require.NoError(t, build("K8S_MULTI_CANARY_ROLLOUT",
		`{"replicas": "50%", "multiTargets": ["tokyo"], "failurePolicy": "any"}`))
	require.ErrorContains(t, build("K8S_MULTI_TRAFFIC_ROUTING", `{}`),
		"stage 2 of the pipeline: K8S_MULTI_TRAFFIC_ROUTING: with: says nothing")
	require.ErrorContains(t, build("K8S_MULTI_SYNC", `{"failurePolicy": "most"}`),
		`stage 2 of the pipeline: K8S_MULTI_SYNC: with: failurePolicy: "most" is not known`)
	require.ErrorContains(t, build("K8S_MULTI_CANARY_CLEAN", `{"multiTargets": "tokyo"}`),
		"K8S_MULTI_CANARY_CLEAN: with")
	require.ErrorContains(t, build("K8S_MULTI_ROLLBACK", `{}`), "K8S_MULTI_ROLLBACK runs by itself")
}

func TestRollbackStagesAreAdded(t *testing.T) {
	t.Parallel()
	h := start(t)
	resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
		Rollback: true,
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: "K8S_MULTI_CANARY_ROLLOUT",
			Index: 2}, {Name: "K8S_MULTI_PRIMARY_ROLLOUT", Index: 4}},
	})
	require.NoError(t, err)
	require.Len(t, resp.GetStages(), 3)
	last := resp.GetStages()[2]
	require.Equal(t, "K8S_MULTI_ROLLBACK", last.GetName())
	require.EqualValues(t, 2, last.GetIndex())
	require.True(t, last.GetRollback())
	quick, err := h.Deployment.BuildQuickSyncStages(t.Context(),
		&deployment.BuildQuickSyncStagesRequest{Rollback: true})
	require.NoError(t, err)
	require.Equal(t, "K8S_MULTI_SYNC", quick.GetStages()[0].GetName())
	require.Equal(t, "K8S_MULTI_ROLLBACK", quick.GetStages()[1].GetName())
}

func TestAStageRefusesTargetsThatTheApplicationDoesNotHave(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_MULTI_SYNC", `{"multiTargets": ["tokyo", "osaka"]}`)
	req.Input.TargetDeploymentSource = source(t, "{}", "a:1", "a:1")
	resp, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
	require.Contains(t, h.Piped.Log("k8s_multi_sync"),
		`with.multiTargets: the application is not deployed to "osaka"; its deploy targets are tokyo, london`)
}

func TestARollbackOfADeploymentThatHasTouchedNothingDoesNothing(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_MULTI_ROLLBACK", "")
	req.Input.TargetDeploymentSource = source(t, "{input: {multiTargets: [{target: {name: tokyo}, kubectlVersion: "+
		"1.2.3}]}}", "a:1", "a:1")
	resp, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	log := h.Piped.Log("k8s_multi_rollback")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus(), log)
	require.Contains(t, log, "Deploy target tokyo: nothing to roll back, no stage has changed it")
	require.Contains(t, log, "Not deployed to: london, for which input.multiTargets has no entry")
	require.Contains(t, log, "input.multiTargets[0].kubectlVersion")
	require.Equal(t, 1, strings.Count(log, "nothing to roll back"))
}
