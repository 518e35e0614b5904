// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	imagev1 "github.com/pipedeck/pipedeck/api/image/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// start runs the plugin with a cluster that does not exist: nothing here may touch it.
func start(t *testing.T) *wiretest.Harness {
	t.Helper()
	return wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes",
		DeployTargets: []sdk.DeployTargetConfig{{Name: "local",
			Config: json.RawMessage(`{"kubeConfigPath": "/does/not/exist"}`)}},
	})
}

const manifestsYAML = `apiVersion: v1
kind: ConfigMap
metadata: {name: kc-conf}
data: {n: y}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kc}
spec:
  selector: {matchLabels: {app: kc}}
  template:
    metadata: {labels: {app: kc}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`

func source(t *testing.T, plugin, manifests string) *common.DeploymentSource {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.yaml"), []byte(manifests), 0o600))
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789", ApplicationConfigFilename: "app.pipecd.yaml",
		ApplicationConfig: []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: kc\n" +
			"  plugins:\n    kubernetes: " + plugin + "\n"),
	}
}

func planInput(h *wiretest.Harness, running, target *common.DeploymentSource) *deployment.PlanPluginInput {
	return &deployment.PlanPluginInput{Deployment: h.Request("K8S_SYNC", "").GetInput().GetDeployment(),
		RunningDeploymentSource: running, TargetDeploymentSource: target}
}

func TestTheStagesAreNamed(t *testing.T) {
	t.Parallel()
	resp, err := start(t).Deployment.FetchDefinedStages(t.Context(), &deployment.FetchDefinedStagesRequest{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"K8S_SYNC", "K8S_PRIMARY_ROLLOUT", "K8S_CANARY_ROLLOUT", "K8S_CANARY_CLEAN",
		"K8S_BASELINE_ROLLOUT", "K8S_BASELINE_CLEAN", "K8S_TRAFFIC_ROUTING", "K8S_TEST", "K8S_ROLLBACK",
		"K8S_REMOVE"},
		resp.GetStages())
}

// The values in the next tests are those of recorded calls of PipeCD's own plugin.

func TestVersionsAreAsRecorded(t *testing.T) {
	t.Parallel()
	h := start(t)
	resp, err := h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: planInput(h, nil,
			source(t, "{input: {namespace: default}}", manifestsYAML))})
	require.NoError(t, err)
	require.Len(t, resp.GetVersions(), 1)
	v := resp.GetVersions()[0]
	require.Equal(t, []string{"v1", "app", "app:v1"}, []string{v.GetVersion(), v.GetName(), v.GetUrl()})
	require.Zero(t, v.GetKind())
}

func TestTheStrategyIsAsRecorded(t *testing.T) {
	t.Parallel()
	h := start(t)
	resp, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: planInput(h,
		source(t, "{}", manifestsYAML), source(t, "{}", strings.Replace(manifestsYAML, ":v1", ":v2", 1)))})
	require.NoError(t, err)
	require.Equal(t, model.SyncStrategy_PIPELINE, resp.GetSyncStrategy())
	require.Equal(t, "Sync progressively because of updating image app from v1 to v2", resp.GetSummary())
	require.False(t, resp.GetUnsupported())
}

func TestThePlanAndTheLogSayThatOnlyTheFirstTargetIsDeployedTo(t *testing.T) {
	t.Parallel()
	away := json.RawMessage(`{"kubeConfigPath": "/does/not/exist", "connectTimeout": "1ms"}`)
	h := wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes", DeployTargets: []sdk.DeployTargetConfig{{Name: "tokyo", Config: away},
			{Name: "london", Config: away}},
	})
	in := planInput(h, source(t, "{}", manifestsYAML), source(t, "{}", strings.Replace(manifestsYAML, ":v1", ":v2", 1)))
	resp, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: in})
	require.NoError(t, err)
	require.Contains(t, resp.GetSummary(), "(only at tokyo, the first of 2 deploy targets: "+
		"kubernetes_multicluster deploys to all)")

	req := h.Request("K8S_SYNC", "")
	req.Input.TargetDeploymentSource = source(t, "{}", manifestsYAML)
	_, err = h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, h.Piped.Log("k8s_sync"), "Warning: the application has 2 deploy targets, and this plugin "+
		"deploys to the first one alone: tokyo")
}

// images is an image builder on this machine.
type images struct {
	imagev1.UnimplementedImageServiceServer
	provide func(*imagev1.ProvideRequest) error
}

func (*images) Resolve(_ context.Context, req *imagev1.ResolveRequest) (*imagev1.ResolveResponse, error) {
	built := map[string]string{}
	for _, image := range req.GetImages() {
		if source, err := os.ReadFile(filepath.Join(req.GetDirectory(), "main.go")); err == nil &&
			strings.HasPrefix(image, "pipedeck.dev/") {
			built[image] = "pipedeck.dev/app:" + string(source)
		}
	}
	return &imagev1.ResolveResponse{References: built}, nil
}

func (i *images) Provide(req *imagev1.ProvideRequest,
	stream grpc.ServerStreamingServer[imagev1.ProvideResponse]) error {
	if err := stream.Send(&imagev1.ProvideResponse{Progress: "building it"}); err != nil {
		return err
	}
	return i.provide(req)
}

// startWithImages runs the plugin with an image builder and a cluster that does not exist.
func startWithImages(t *testing.T, builder *images) *wiretest.Harness {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	imagev1.RegisterImageServiceServer(server, builder)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		<-served
	})
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("id.secret"), 0o600))
	target, err := json.Marshal(map[string]any{
		"kubeConfigPath": "/does/not/exist",
		"imageBuilder":   map[string]string{"address": listener.Addr().String(), "apiKeyFile": key},
	})
	require.NoError(t, err)
	return wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes", DeployTargets: []sdk.DeployTargetConfig{{Name: "local", Config: target}},
	})
}

// sourceWithProgram is an application whose image is built from its sources.
func sourceWithProgram(t *testing.T, program string) *common.DeploymentSource {
	t.Helper()
	s := source(t, "{}", strings.Replace(manifestsYAML, `"app:v1"`, `"pipedeck.dev/app:v1"`, 1))
	require.NoError(t, os.WriteFile(filepath.Join(s.GetApplicationDirectory(), "main.go"), []byte(program), 0o600))
	return s
}

func TestAChangeOfTheProgramAloneIsAChangeOfTheImage(t *testing.T) {
	t.Parallel()
	h := startWithImages(t, &images{})
	input := planInput(h, sourceWithProgram(t, "one"), sourceWithProgram(t, "two"))
	versions, err := h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: input})
	require.NoError(t, err)
	require.Len(t, versions.GetVersions(), 1)
	v := versions.GetVersions()[0]
	require.Equal(t, []string{"two", "app", "pipedeck.dev/app:two"}, []string{v.GetVersion(), v.GetName(), v.GetUrl()})
	strategy, err := h.Deployment.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: input})
	require.NoError(t, err)
	require.Equal(t, model.SyncStrategy_PIPELINE, strategy.GetSyncStrategy())
	require.Equal(t, "Sync progressively because of updating image app from one to two", strategy.GetSummary())

	same, err := h.Deployment.DetermineStrategy(t.Context(),
		&deployment.DetermineStrategyRequest{Input: planInput(h, sourceWithProgram(t, "one"),
			sourceWithProgram(t, "one"))})
	require.NoError(t, err)
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, same.GetSyncStrategy())
}

func TestAProgramThatDoesNotCompileFailsTheStageInTheCompilersWords(t *testing.T) {
	t.Parallel()
	asked := make(chan *imagev1.ProvideRequest, 2)
	h := startWithImages(t, &images{provide: func(req *imagev1.ProvideRequest) error {
		asked <- req
		return status.Error(codes.FailedPrecondition, "app does not compile: app/main.go:3:1: syntax error")
	}})
	for _, stage := range []string{"K8S_SYNC", "K8S_CANARY_ROLLOUT"} {
		req := h.Request(stage, "{}")
		req.Input.TargetDeploymentSource = sourceWithProgram(t, "one")
		resp, err := h.Deployment.ExecuteStage(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
		log := h.Piped.Log(wiretest.StageID(stage))
		require.Contains(t, log, "building it")
		require.Contains(t, log, "app/main.go:3:1: syntax error")
		got := <-asked
		require.Equal(t, []string{"local", "pipedeck.dev/app:one"},
			append([]string{got.GetTarget()}, got.GetImages()...))
	}
}

func TestTheStagesOfAPlanAreAsRecorded(t *testing.T) {
	t.Parallel()
	h := start(t)
	quick, err := h.Deployment.BuildQuickSyncStages(t.Context(),
		&deployment.BuildQuickSyncStagesRequest{Rollback: true})
	require.NoError(t, err)
	require.Equal(t, []string{"K8S_SYNC 0 Sync by applying all manifests",
		"K8S_ROLLBACK 0 Rollback the deployment (rollback)"}, describe(quick.GetStages()))
	quick, err = h.Deployment.BuildQuickSyncStages(t.Context(), &deployment.BuildQuickSyncStagesRequest{})
	require.NoError(t, err)
	require.Len(t, quick.GetStages(), 1)

	pipeline, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
		Rollback: true,
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{
			{Name: "K8S_CANARY_ROLLOUT", Index: 1, Config: []byte(`{"replicas":1}`)},
			{Name: "K8S_PRIMARY_ROLLOUT", Index: 3, Desc: "all of it", Config: []byte(`{}`)},
			{Name: "K8S_CANARY_CLEAN", Index: 4, Config: []byte(`{}`)},
		},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"K8S_CANARY_ROLLOUT 1 ", "K8S_PRIMARY_ROLLOUT 3 all of it", "K8S_CANARY_CLEAN 4 ",
		"K8S_ROLLBACK 1  (rollback)"}, describe(pipeline.GetStages()))
}

func describe(stages []*model.PipelineStage) []string {
	var all []string
	for _, s := range stages {
		line := strings.Join([]string{s.GetName(), string('0' + rune(s.GetIndex())), s.GetDesc()}, " ")
		if s.GetRollback() {
			line += " (rollback)"
		}
		all = append(all, line)
	}
	return all
}

func TestAMistakeInAPipelineIsSeenAtPlanning(t *testing.T) {
	t.Parallel()
	h := start(t)
	for name, with := range map[string]string{"K8S_CANARY_ROLLOUT": `{"replicas":"many"}`,
		"K8S_BASELINE_ROLLOUT": `{"replicas":"-1"}`, "K8S_TRAFFIC_ROUTING": `{"canary":101}`, "K8S_ROLLBACK": "{}"} {
		_, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
			Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: name, Index: 2,
				Config: []byte(with)}},
		})
		require.ErrorContains(t, err, "stage 3 of the pipeline: "+name)
	}
	_, err := h.Deployment.DetermineVersions(t.Context(),
		&deployment.DetermineVersionsRequest{Input: planInput(h, nil,
			source(t, "{input: {helmChart: {path: x}}}", manifestsYAML))})
	require.ErrorContains(t, err, "input.helmChart.path: there is no chart at x")
}

func TestAStageWithoutDeployTargetsIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_SYNC", "")
	req.Input.TargetDeploymentSource = source(t, "{}", manifestsYAML)
	req.Input.Deployment.DeployTargetsByPlugin = nil
	_, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
	require.ErrorContains(t, err, "no deploy targets provided")
}

func TestBrokenManifestsFailAStageBeforeTheClusterIsAsked(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_SYNC", "")
	req.Input.TargetDeploymentSource = source(t, "{}", "apiVersion: v1\nkind: [\n")
	resp, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
	require.Contains(t, h.Piped.Log(wiretest.StageID("K8S_SYNC")), "all.yaml:")
}

func TestAStageWaitsForTheClusterUntilItIsCancelled(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_CANARY_CLEAN", "{}")
	req.Input.TargetDeploymentSource = source(t, "{}", manifestsYAML)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Deployment.ExecuteStage(ctx, req)
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(h.Piped.Log(wiretest.StageID("K8S_CANARY_CLEAN")),
			"waiting for the Kubernetes API: there is no kubeconfig at /does/not/exist")
	}, time.Minute, time.Millisecond)
	cancel()
	require.Equal(t, codes.Canceled, status.Code(<-ended))
	require.Eventually(t, func() bool { return h.Piped.Completed(wiretest.StageID("K8S_CANARY_CLEAN")) }, time.Minute,
		time.Millisecond)
}

func TestABaselineOfTheFirstDeploymentIsExplained(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_BASELINE_ROLLOUT", "{}")
	req.Input.TargetDeploymentSource, req.Input.RunningDeploymentSource = source(t, "{}", manifestsYAML), nil
	resp, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
	require.Contains(t, h.Piped.Log(wiretest.StageID("K8S_BASELINE_ROLLOUT")),
		"has never been deployed successfully: deploy it once by a quick sync")
}

func TestAPipelineThatCannotWorkIsNotPlanned(t *testing.T) {
	t.Parallel()
	h := start(t)
	s := source(t, "{}", manifestsYAML)
	s.ApplicationConfig = append(s.ApplicationConfig,
		"  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}]}\n"...)
	input := planInput(h, nil, s)
	_, err := h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: input})
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
	require.ErrorContains(t, err, "stage 2 of the pipeline: K8S_TRAFFIC_ROUTING: the selector of a Service can "+
		"send all traffic to the primary or all to the canary, not primary 50%, canary 50%")
	input.Deployment.Trigger.SyncStrategy = model.SyncStrategy_QUICK_SYNC // someone does not want the pipeline
	_, err = h.Deployment.DetermineVersions(t.Context(), &deployment.DetermineVersionsRequest{Input: input})
	require.NoError(t, err)
}

func TestUnreadOptionsAreReportedInTheLog(t *testing.T) {
	t.Parallel()
	h := start(t)
	req := h.Request("K8S_TRAFFIC_ROUTING", `{"all": "canary", "green": 1}`)
	req.Input.TargetDeploymentSource = source(t, "{}", manifestsYAML)
	_, err := h.Deployment.ExecuteStage(t.Context(), req)
	require.NoError(t, err)
	require.Contains(t, h.Piped.Log(wiretest.StageID("K8S_TRAFFIC_ROUTING")),
		"Warning: with.green is not read: the options here are all, baseline, canary, match, "+
			"mirror, primary, sessionAffinity")
}

func TestTrafficThatCannotBeRoutedFailsBeforeTheClusterIsAsked(t *testing.T) {
	t.Parallel()
	service := "apiVersion: v1\nkind: Service\nmetadata: {name: kc}\nspec:\n  selector: {app: kc}\n"
	for name, c := range map[string]struct{ stage, plugin, manifests, options, want string }{
		"a share by a Service": {"K8S_TRAFFIC_ROUTING", "{}", service, `{"canary": 50}`,
			"not primary 50%, canary 50%: set with.all to primary or canary, or trafficRouting.method: istio"},
		"no Service": {"K8S_TRAFFIC_ROUTING", "{}", manifestsYAML, `{"all": "canary"}`,
			"there is no Service among the manifests"},
		"a Service of all": {"K8S_TRAFFIC_ROUTING", "{}", service, `{"all": "canary"}`,
			"all.yaml:5: the selector of Service kc must have pipecd.dev/variant: primary for traffic to be " +
				"routed: write it into spec.selector"},
		"a canary before it": {"K8S_CANARY_ROLLOUT", "{}", service + "---\n" + manifestsYAML, "{}",
			"stage 1 of the pipeline, K8S_TRAFFIC_ROUTING, could not work: all.yaml:5: the selector of Service kc " +
				"must have"},
		"no HTTPRoute": {"K8S_TRAFFIC_ROUTING", "{trafficRouting: {method: gateway}}", service,
			`{"all": "primary"}`, "there is no HTTPRoute of gateway.networking.k8s.io among the manifests: add one"},
		"no VirtualService": {"K8S_TRAFFIC_ROUTING", "{trafficRouting: {method: istio}}", service,
			`{"all": "canary"}`, "there is no VirtualService of networking.istio.io among the manifests: add one"},
		"a primary of all": {"K8S_PRIMARY_ROLLOUT", "{}", manifestsYAML, "{}",
			"all.yaml:10: the selector of Deployment kc must have pipecd.dev/variant: primary"},
		"an unrouted primary": {"K8S_PRIMARY_ROLLOUT", "{trafficRouting: {method: istio}}", manifestsYAML, "{}",
			"there is no VirtualService"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			req := h.Request(c.stage, c.options)
			s := source(t, c.plugin, c.manifests)
			s.ApplicationConfig = append(s.ApplicationConfig,
				"  pipeline: {stages: [{name: K8S_TRAFFIC_ROUTING, with: {all: canary}}, {name: "+
					"K8S_CANARY_ROLLOUT, with: {createService: true}}]}\n"...)
			req.Input.TargetDeploymentSource = s
			resp, err := h.Deployment.ExecuteStage(t.Context(), req)
			require.NoError(t, err)
			require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
			require.Contains(t, h.Piped.Log(wiretest.StageID(c.stage)), c.want)
		})
	}
}
