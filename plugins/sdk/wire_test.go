// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestConstantsAreThoseOfTheProtocol(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]fmt.Stringer{
		"STAGE_NOT_STARTED_YET": sdk.StageNotStarted, "STAGE_RUNNING": sdk.StageRunning,
		"STAGE_SUCCESS": sdk.StageSuccess, "STAGE_FAILURE": sdk.StageFailure, "STAGE_CANCELLED": sdk.StageCancelled,
		"STAGE_SKIPPED": sdk.StageSkipped, "STAGE_EXITED": sdk.StageExited,
		"AUTO": sdk.SyncAuto, "QUICK_SYNC": sdk.QuickSync, "PIPELINE": sdk.PipelineSync,
		"UNKNOWN": sdk.HealthUnknown, "HEALTHY": sdk.Healthy, "UNHEALTHY": sdk.Unhealthy,
		"SYNCED": sdk.Synced, "DEPLOYING": sdk.Deploying, "OUT_OF_SYNC": sdk.OutOfSync,
		"INVALID_CONFIG": sdk.InvalidConfig, "CHANGE_UNSPECIFIED": sdk.ChangeUnknown, "CHANGE_LIVE": sdk.ChangeLive,
		"CHANGE_GIT": sdk.ChangeGit, "CHANGE_BOTH": sdk.ChangeBoth, "CHANGE_APPLIED": sdk.ChangeApplied,
	} {
		require.Equal(t, name, value.String())
	}
	require.Equal(t, "UNKNOWN", sdk.SyncUnknown.String())
}

func TestAStageGetsAllOfItsDeployment(t *testing.T) {
	t.Parallel()
	got := make(chan *sdk.StageRequest[sdk.None], 1)
	h := wiretest.Start(t, executing(func(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
		got <- req
		return sdk.Success, nil
	}), wiretest.Options{})
	request := h.Request("TEST", "{}")
	d, s := request.GetInput().GetDeployment(), request.GetInput().GetStage()
	at := int64(1_800_000_000)
	d.Trigger.Commander, d.Trigger.SyncStrategy = "ada", model.SyncStrategy_QUICK_SYNC
	d.Trigger.StrategySummary = "asked"
	d.Trigger.Commit.PullRequest, d.Trigger.Commit.Url = 7, "https://example.com/7"
	d.RunningCommitHash, d.Summary = "0ld", "Quick sync"
	d.Versions = []*model.ArtifactVersion{{Name: "web", Version: "v1", Url: "web:v1"}}
	d.DeployTargetsByPlugin = map[string]*model.DeployTargets{"other": {DeployTargets: []string{"east"}}}
	s.Desc, s.Index, s.RetriedCount, s.Requires, s.StatusReason = "first", 2, 3, []string{"before"}, "once more"
	s.AvailableOperation, s.AuthorizedOperators = model.ManualOperation_MANUAL_OPERATION_APPROVE, []string{"ada"}
	s.Metadata, s.CompletedAt, s.Rollback = map[string]string{"k": "v"}, at+1, true
	_, err := h.Deployment.ExecuteStage(t.Context(), request)
	require.NoError(t, err)
	req := <-got
	stage := sdk.StageState{
		ID: "test", Name: "TEST", Desc: "first", Index: 2, Rollback: true, Requires: []string{"before"},
		Status: sdk.StageRunning, Reason: "once more", Metadata: map[string]string{"k": "v"}, Attempt: 3,
		Operation: sdk.OperationApprove, Operators: []string{"ada"}, CreatedAt: time.Unix(at, 0),
		CompletedAt: time.Unix(at+1, 0),
	}
	require.Equal(t, &stage, req.Stage)
	require.Equal(t, &sdk.Deployment{
		ID: "deployment-1", PipedID: "piped-1", ProjectID: "project-1",
		Application: sdk.Application{ID: "application-1", Name: "demo", Labels: map[string]string{"env": "dev"},
			RepositoryID: "repo-1", Remote: "file:///repo", Branch: "main", Path: "demo",
			ConfigFilename: "app.pipecd.yaml"},
		Trigger: sdk.Trigger{
			Commit: sdk.Commit{Hash: "0123456789abcdef", Message: "change", Author: "dev", Branch: "main",
				PullRequest: 7, URL: "https://example.com/7", CreatedAt: time.Unix(at, 0)},
			Commander: "ada", At: time.Unix(at, 0), Sync: sdk.QuickSync, Summary: "asked",
		},
		RunningCommit: "0ld", Summary: "Quick sync",
		Versions: []sdk.ArtifactVersion{{Name: "web", Version: "v1", URL: "web:v1"}},
		Stages:   []sdk.StageState{stage}, Targets: map[string][]string{"other": {"east"}}, CreatedAt: time.Unix(at, 0),
	}, req.Deployment)
}

// stating is a fleet with one live state and one drift.
type stating struct{ *fleet }

func (stating) GetLivestate(context.Context, *sdk.LivestateRequest[fleetConfig, fleetTarget, fleetApp]) (*sdk.Livestate,
	error) {
	return &sdk.Livestate{
		Resources: []*sdk.ResourceState{{ID: "1", ParentIDs: []string{"0"}, Name: "web", Type: "file",
			Metadata: map[string]string{"k": "v"}, Health: sdk.Unhealthy, HealthDescription: "is away",
			DeployTarget: "one", CreatedAt: time.Unix(5, 0)}},
		Sync: &sdk.SyncState{Status: sdk.OutOfSync, ShortReason: "short", Reason: "long", At: time.Unix(6, 0)},
	}, nil
}

func (stating) GetDrift(_ context.Context, req *sdk.DriftRequest[fleetConfig, fleetTarget, fleetApp]) (
	[]sdk.ResourceDrift, error) {
	return []sdk.ResourceDrift{{ResourceID: "1", MoreFields: 2, Refused: "may not", Fields: []sdk.FieldDrift{{
		Path: "image", Git: req.Newest.App.Image, Live: "v0", Applied: req.Source.App.Image, Change: sdk.ChangeBoth,
		Secret: true, Writer: "editor",
	}}}}, nil
}

func TestTheHarnessAsksAllThatPipedAsks(t *testing.T) {
	t.Parallel()
	options := sdktest.Options{Name: "fleet", Config: fleetConfig{Region: "north"},
		DeployTargets: fleetOptions().DeployTargets}
	plugin := newFleet()
	h := sdktest.Start(t, sdk.ForDeployment[fleetConfig, fleetTarget, fleetApp](stating{plugin}), options)
	commit := func(image string) *sdktest.Commit {
		return sdktest.WriteCommit(t, "c-"+image, map[string]string{
			sdktest.ConfigFilename: "spec: {plugins: {fleet: {image: " + image + "}}}", "files/a.txt": "a"})
	}
	ctx, change := t.Context(), sdktest.Change{Running: commit("v1"), Target: commit("v2")}

	stages, err := h.Stages(ctx)
	require.NoError(t, err)
	require.Contains(t, stages, "FLEET_SYNC")
	versions, err := h.Versions(ctx, change)
	require.NoError(t, err)
	require.Equal(t, []sdk.ArtifactVersion{{Version: "v2"}}, versions)
	planned := <-plugin.planned
	require.Equal(t, "v1", planned.Running.App.Image)
	require.True(t, planned.Client != nil && planned.Logger != nil, "planning has a client and a logger")
	strategy, err := h.Strategy(ctx, change)
	require.NoError(t, err)
	require.Equal(t, sdk.PipelineSync, strategy.Sync)
	quick, err := h.PlanQuickSync(ctx)
	require.NoError(t, err)
	require.Equal(t, "Sync to north", quick[0].Desc)

	outcome, err := h.Run(ctx, sdktest.Execution{Stage: "FLEET_SYNC", ID: "x", Options: "{}", Change: change, Index: 2,
		Attempt: 1, Targets: []string{"two"}})
	require.NoError(t, err)
	require.Equal(t, sdk.StageSuccess, outcome.Status)
	executed := <-plugin.executed
	require.Equal(t, "two", executed.Targets[0].Name)
	require.Equal(t, []any{"x", 2, 1}, []any{executed.Stage.ID, executed.Stage.Index, executed.Stage.Attempt})
	require.Equal(t, change.Target.Dir, executed.Target.Dir)
	require.Equal(t, "c-v1", executed.Running.CommitHash)

	live, err := h.Livestate(ctx, change.Running)
	require.NoError(t, err)
	want, err := stating{}.GetLivestate(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, want, live)
	drifts, err := h.Drift(ctx, change.Running, change.Target)
	require.NoError(t, err)
	require.Equal(t, []sdk.ResourceDrift{{ResourceID: "1", MoreFields: 2, Refused: "may not", Fields: []sdk.FieldDrift{{
		Path: "image", Git: "v2", Live: "v0", Applied: "v1", Change: sdk.ChangeBoth, Secret: true, Writer: "editor",
	}}}}, drifts)
	previews, err := h.Preview(ctx, change)
	require.NoError(t, err)
	require.Equal(t, "+v2\n", previews[0].Details)
}
