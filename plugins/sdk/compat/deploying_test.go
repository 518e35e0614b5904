// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	old "github.com/pipedeck/pipedeck/plugins/sdk/compat"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

type place struct {
	Shelf string `json:"shelf"`
}

// shipper has the shape of a deployment plugin of PipeCD's SDK.
type shipper struct{ shelves []string }

func (s *shipper) Initialize(_ context.Context, input *old.InitializeInput[config, place]) error {
	for _, target := range input.DeployTargets {
		s.shelves = append(s.shelves, target.Config.Shelf)
	}
	return nil
}

func (*shipper) FetchDefinedStages() []string { return []string{"SHIP", "SHIP_ROLLBACK"} }

func (*shipper) DetermineVersions(_ context.Context, c *config, input *old.DetermineVersionsInput[spec]) (
	*old.DetermineVersionsResponse, error) {
	source := input.Request.DeploymentSource
	return &old.DetermineVersionsResponse{Versions: []old.ArtifactVersion{
		{Version: source.CommitHash, Name: source.ApplicationConfig.Spec.Team + c.Word, URL: "https://a.example"},
	}}, nil
}

func (*shipper) DetermineStrategy(_ context.Context, _ *config, input *old.DetermineStrategyInput[spec]) (
	*old.DetermineStrategyResponse, error) {
	switch input.Request.TargetDeploymentSource.CommitHash {
	case "nothing":
		return nil, nil
	case "wrong":
		return &old.DetermineStrategyResponse{Strategy: 7}, nil
	}
	if _, err := input.Request.RunningDeploymentSource.AppConfig(); err != nil {
		return &old.DetermineStrategyResponse{Strategy: old.SyncStrategyQuickSync, Summary: "the first"}, nil
	}
	return &old.DetermineStrategyResponse{Strategy: old.SyncStrategyPipelineSync, Summary: "again"}, nil
}

func (*shipper) BuildPipelineSyncStages(context.Context, *config, *old.BuildPipelineSyncStagesInput) (
	*old.BuildPipelineSyncStagesResponse, error) {
	return nil, errors.New("no pipelines")
}

func (*shipper) BuildQuickSyncStages(_ context.Context, _ *config, input *old.BuildQuickSyncStagesInput) (
	*old.BuildQuickSyncStagesResponse, error) {
	stages := []old.QuickSyncStage{{Name: "SHIP", Description: "Ship it"}}
	if input.Request.Rollback {
		stages = append(stages, old.QuickSyncStage{Name: "SHIP_ROLLBACK", Rollback: true})
	}
	return &old.BuildQuickSyncStagesResponse{Stages: stages}, nil
}

func (s *shipper) ExecuteStage(_ context.Context, _ *config, targets []*old.DeployTarget[place],
	input *old.ExecuteStageInput[spec]) (*old.ExecuteStageResponse, error) {
	for _, target := range targets {
		input.Client.LogPersister().Infof("%s: %s of %s", target.Name, target.Config.Shelf, s.shelves[0])
	}
	return &old.ExecuteStageResponse{Status: old.StageStatusSuccess}, nil
}

func TestADeploymentPluginOfPipeCDsSDKPlansAndDeploys(t *testing.T) {
	t.Parallel()
	s := &shipper{}
	plugin, err := old.NewPlugin("0.1.0", old.WithDeploymentPlugin(s), old.WithInitializer[spec](s))
	require.NoError(t, err)
	h := sdktest.Start(t, old.Wrap(plugin), sdktest.Options{Name: "shipper", Config: config{Word: "!"},
		DeployTargets: []sdk.DeployTargetConfig{{Name: "east", Config: json.RawMessage(`{"shelf": "/east"}`)}}})
	commit := func(hash string) *sdktest.Commit {
		return &sdktest.Commit{Hash: hash, Config: "spec: {plugins: {shipper: {team: web}}}"}
	}
	first := sdktest.Change{Target: commit("c1")}

	versions, err := h.Versions(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, []sdk.ArtifactVersion{{Version: "c1", Name: "web!", URL: "https://a.example"}}, versions)
	for _, c := range []struct {
		change sdktest.Change
		sync   sdk.SyncStrategy
		says   string
	}{
		{first, sdk.QuickSync, "the first"},
		{sdktest.Change{Running: commit("c0"), Target: commit("c1")}, sdk.PipelineSync, "again"},
	} {
		strategy, err := h.Strategy(t.Context(), c.change)
		require.NoError(t, err)
		require.Equal(t, c.sync, strategy.Sync)
		require.Equal(t, c.says, strategy.Summary)
	}
	strategy, err := h.Strategy(t.Context(), sdktest.Change{Target: commit("nothing")})
	require.NoError(t, err)
	require.Equal(t, sdk.PipelineSync, strategy.Sync)
	_, err = h.Strategy(t.Context(), sdktest.Change{Target: commit("wrong")})
	require.ErrorContains(t, err, "the plugin gave the strategy 7")

	stages, err := h.PlanQuickSync(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Ship it", stages[0].Desc)
	require.Equal(t, "SHIP_ROLLBACK", stages[1].Name)
	_, err = h.Plan(t.Context(), sdk.StageConfig{Name: "SHIP"})
	require.ErrorContains(t, err, "no pipelines")

	outcome, err := h.Run(t.Context(), sdktest.Execution{Stage: "SHIP", ID: "1", Change: first})
	require.NoError(t, err)
	require.Equal(t, sdk.StageSuccess, outcome.Status)
	require.Equal(t, "east: /east of /east\n", h.Piped.Log("1"))
}
