// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestStagePluginAnswersPlanningAsPipeCDsDo(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(stagePlugin{}), wiretest.Options{})
	ctx := t.Context()
	plan := &deployment.PlanPluginInput{Deployment: h.Request("TEST", "").GetInput().GetDeployment()}

	stages, err := h.Deployment.FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{})
	require.NoError(t, err)
	require.Equal(t, []string{"TEST", "OTHER", "ONE", "TWO", "TEST_ROLLBACK"}, stages.GetStages())

	versions, err := h.Deployment.DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: plan})
	require.NoError(t, err)
	require.Empty(t, versions.GetVersions())

	strategy, err := h.Deployment.DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: plan})
	require.NoError(t, err)
	require.True(t, strategy.GetUnsupported())

	quick, err := h.Deployment.BuildQuickSyncStages(ctx, &deployment.BuildQuickSyncStagesRequest{Rollback: true})
	require.NoError(t, err)
	require.Empty(t, quick.GetStages())

	_, err = h.Livestate.GetLivestate(ctx, &livestate.GetLivestateRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
	_, err = h.PlanPreview.GetPlanPreview(ctx, &planpreview.GetPlanPreviewRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForDeployment(newFleet()), fleetOptions())
	_, err := h.Deployment.ExecuteStage(t.Context(), &deployment.ExecuteStageRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.ErrorContains(t, err, "invalid request: ")

	partial := &deployment.PlanPluginInput{Deployment: &model.Deployment{ApplicationId: "a", ApplicationName: "demo",
		PipedId: "p"}}
	_, err = h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: partial})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	wrong := &deployment.PlanPluginInput{Deployment: h.Request("FLEET_SYNC", "").GetInput().GetDeployment(),
		TargetDeploymentSource: &common.DeploymentSource{ApplicationDirectory: t.TempDir(), CommitHash: "0123456789",
			ApplicationConfigFilename: "app.pipecd.yaml", ApplicationConfig: []byte("apiVersion: pipecd.dev/v1beta1\n" +
				"kind: Application\nspec: {name: demo, plugins: {fleet: {image: [a]}}}\n")}}
	_, err = h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: wrong})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "it ends the plan: %v", err)
	require.ErrorContains(t, err, "spec.plugins.fleet is not valid: image must be a string")
	strategy, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: partial})
	require.NoError(t, err, "plan preview only fills in the application")
	require.Equal(t, model.SyncStrategy_PIPELINE, strategy.GetSyncStrategy())
	require.NotEmpty(t, strategy.GetSummary())
	_, err = h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

func TestPipelineStagesFollowTheRulesForIndexes(t *testing.T) {
	t.Parallel()
	request := &deployment.BuildPipelineSyncStagesRequest{Rollback: true,
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{
			{Name: "TEST", Desc: "first", Index: 1, Config: []byte("{}")}, {Name: "TEST", Index: 4},
		}}
	for name, tc := range map[string]struct {
		stages []sdk.Stage
		err    error
		want   string
	}{
		"a normal and a rollback stage may share one": {stages: []sdk.Stage{{Name: "TEST", Index: 1, Desc: "ignored",
			Operation: sdk.OperationApprove, Operators: []string{"a"}},
			{Name: "TEST_ROLLBACK", Index: 1, Rollback: true}}},
		"two normal stages may not": {stages: []sdk.Stage{{Name: "TEST", Index: 1},
			{Name: "TEST", Index: 1}}, want: "the same index 1"},
		"an index has to be in the request": {stages: []sdk.Stage{{Name: "TEST", Index: 2}},
			want: "index 2, which is not in the request"},
		"the plugin's error is passed on": {err: errors.New("no such thing"), want: "no such thing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, sdk.ForStages(stagePlugin{build: func(*sdk.PipelineRequest[sdk.None]) ([]sdk.Stage,
				error) {
				return tc.stages, tc.err
			}}), wiretest.Options{})
			resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), request)
			if tc.want != "" {
				require.Equal(t, codes.Internal, status.Code(err))
				require.ErrorContains(t, err, tc.want)
				require.NotContains(t, err.Error(), "build the stages", "piped says that itself")
				return
			}
			require.NoError(t, err)
			require.Len(t, resp.GetStages(), 2)
			first, second := resp.GetStages()[0], resp.GetStages()[1]
			require.Equal(t, "first", first.GetDesc())
			require.Equal(t, model.ManualOperation_MANUAL_OPERATION_APPROVE, first.GetAvailableOperation())
			require.Equal(t, []string{"a"}, first.GetAuthorizedOperators())
			require.True(t, second.GetRollback())
			require.Equal(t, model.ManualOperation_MANUAL_OPERATION_NONE, second.GetAvailableOperation())
			require.Positive(t, second.GetCreatedAt())
			require.Positive(t, second.GetUpdatedAt())
		})
	}
}

func TestDeploymentPluginGetsTypedConfigurations(t *testing.T) {
	t.Parallel()
	plugin := newFleet()
	h := wiretest.Start(t, sdk.ForDeployment(plugin), fleetOptions())
	request := h.Request("FLEET_SYNC", "")
	in := request.GetInput()
	in.Deployment.DeployTargetsByPlugin["fleet"].DeployTargets = []string{"two"}
	in.TargetDeploymentSource.ApplicationConfig = []byte("apiVersion: pipecd.dev/v1beta1\n" +
		"kind: Application\nspec:\n  name: demo\n  plugins:\n    fleet:\n      image: app:v1\n" +
		"      unknown: {y: [1, true]}\n")
	in.TargetDeploymentSource.ApplicationDirectory = "/src/demo"

	resp, err := h.Deployment.ExecuteStage(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus())
	got := <-plugin.executed
	require.Equal(t, fleetConfig{Region: "north"}, got.Config)
	require.Equal(t, []sdk.DeployTarget[fleetTarget]{{Name: "two", Labels: map[string]string{"env": "dev"},
		Config: fleetTarget{Address: "a:2"}}}, got.Targets)
	require.Nil(t, got.Running)
	require.Equal(t, "app:v1", got.Target.App.Image)
	require.Equal(t, "/src/demo", got.Target.Dir)
	require.True(t, got.QuickSync())
	require.Equal(t, "north", plugin.env.Config.Region)
	require.Len(t, plugin.env.Targets, 2)

	versions, err := h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: &deployment.PlanPluginInput{
			Deployment: in.GetDeployment(), TargetDeploymentSource: in.GetTargetDeploymentSource(),
		}})
	require.NoError(t, err)
	require.Equal(t, "app:v1", versions.GetVersions()[0].GetVersion())
	require.Len(t, (<-plugin.planned).Targets, 1)

	quick, err := h.Deployment.BuildQuickSyncStages(t.Context(), &deployment.BuildQuickSyncStagesRequest{})
	require.NoError(t, err)
	require.Equal(t, "Sync to north", quick.GetStages()[0].GetDesc())

	require.NoError(t, h.Stop())
	<-plugin.closed
}

func TestWrongApplicationsFailTheStageWithAReason(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForDeployment(newFleet()), fleetOptions())
	for name, tc := range map[string]struct {
		change func(*deployment.ExecutePluginInput)
		code   codes.Code
		want   string
	}{
		"no deploy target": {
			change: func(in *deployment.ExecutePluginInput) { in.Deployment.DeployTargetsByPlugin = nil },
			code:   codes.InvalidArgument, want: "no deploy targets provided",
		},
		"unknown deploy target": {
			change: func(in *deployment.ExecutePluginInput) {
				in.Deployment.DeployTargetsByPlugin["fleet"].DeployTargets = []string{"one", "three"}
			},
			code: codes.Internal, want: `deploy target "three" is not configured`,
		},
		"a key of the wrong type": {
			change: func(in *deployment.ExecutePluginInput) {
				in.TargetDeploymentSource.ApplicationConfig = []byte("spec: {plugins: {fleet: {image: [a]}}}")
			},
			code: codes.InvalidArgument, want: "spec.plugins.fleet is not valid: image must be a string, not a list",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := h.Request("FLEET_SYNC", "")
			request.Input.Stage.Id = name
			tc.change(request.GetInput())
			_, err := h.Deployment.ExecuteStage(t.Context(), request)
			require.Equal(t, tc.code, status.Code(err))
			require.ErrorContains(t, err, tc.want)
			require.Contains(t, h.Piped.Log(name), tc.want)
		})
	}
}

func TestLivestateIsFilledIn(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForDeployment(newFleet()), fleetOptions())
	_, err := h.Livestate.GetLivestate(t.Context(), &livestate.GetLivestateRequest{})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	resp, err := h.Livestate.GetLivestate(t.Context(),
		&livestate.GetLivestateRequest{DeployTargets: []string{"one"}, DeploySource: &common.DeploymentSource{}})
	require.NoError(t, err)
	state := resp.GetApplicationLiveState()
	require.Equal(t, model.ApplicationLiveState_OTHER, state.GetHealthStatus())
	require.Equal(t, "fleet", state.GetResources()[0].GetPluginName())
	require.Equal(t, "a:1", state.GetResources()[0].GetName())
	require.NoError(t, state.GetResources()[0].Validate())
}

func TestAPlanPreviewHasAnAnswerForEachTarget(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForDeployment(newFleet()), fleetOptions())
	source := func(image string) *common.DeploymentSource {
		return &common.DeploymentSource{ApplicationConfig: []byte("spec: {plugins: {fleet: {image: " + image + "}}}")}
	}
	results := h.Preview(t, nil, source("v2"))
	require.Len(t, results, 2)
	require.Equal(t, "two", results[1].GetDeployTarget())
	require.Equal(t, "v2", results[1].GetSummary())
	require.Equal(t, "+v2\n", string(results[1].GetDetails()))
	require.Equal(t, "diff", results[1].GetDiffLanguage())
	require.False(t, results[1].GetNoChange())

	results = h.Preview(t, source("v2"), source("v2"))
	require.True(t, results[0].GetNoChange())
	require.Empty(t, results[0].GetDiffLanguage())

	for what, c := range map[string]struct {
		request *planpreview.GetPlanPreviewRequest
		code    codes.Code
		says    string
	}{
		"no target": {&planpreview.GetPlanPreviewRequest{TargetDeploymentSource: source("v2")},
			codes.InvalidArgument, "no deploy targets provided"},
		"unknown target": {&planpreview.GetPlanPreviewRequest{DeployTargets: []string{"three"},
			TargetDeploymentSource: source("v2")}, codes.Internal, "not configured"},
		"a stray preview": {&planpreview.GetPlanPreviewRequest{DeployTargets: []string{"one"},
			TargetDeploymentSource: source("lost")}, codes.Internal, "a mistake in the plugin"},
	} {
		_, err := h.PlanPreview.GetPlanPreview(t.Context(), c.request)
		require.Equal(t, c.code, status.Code(err), what)
		require.ErrorContains(t, err, c.says, what)
	}
}

func TestHealthIsServed(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(stagePlugin{}), wiretest.Options{})
	client := grpc_health_v1.NewHealthClient(h.Conn)
	for _, service := range []string{"", "grpc.plugin.deploymentapi.v1alpha1.DeploymentService"} {
		var trailer metadata.MD
		resp, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service},
			grpc.Trailer(&trailer))
		require.NoError(t, err)
		require.Regexp(t, `^[1-9][0-9]*$`, strings.Join(trailer.Get("pipedeck-goroutines"), " "))
		require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, resp.GetStatus())
	}
	watch, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	require.NoError(t, h.Stop(), "a watch does not hold up the end")
}

func TestAPanicWhilePlanningIsAnErrorAndThePluginLivesOn(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(stagePlugin{build: func(req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage,
		error) {
		return []sdk.Stage{{Name: req.Stages[5].Name}}, nil
	}}), wiretest.Options{})
	for range 2 {
		_, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{})
		require.Equal(t, codes.Internal, status.Code(err))
		require.ErrorContains(t, err, "panic: runtime error: index out of range [5] with length 0 at ")
		require.ErrorContains(t, err, "/planning_test.go:281")
	}
}
