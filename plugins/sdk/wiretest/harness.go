// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package wiretest

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// Options describe the plugin's entry in the piped configuration.
type Options struct {
	// Name is "plugin" when empty.
	Name string
	// Config is marshalled to JSON; nil is no configuration.
	Config        any
	DeployTargets []sdk.DeployTargetConfig
	// OldPiped makes Piped answer as PipeCD's own, which cannot push commands. The plugin then asks
	// every few milliseconds instead of every five seconds.
	OldPiped bool
	// Piped is that of an earlier Harness, with all that was reported to it: the plugin is started again.
	// nil is a new one. OldPiped is then that of the earlier one.
	Piped *Piped
}

// Harness is a plugin that runs in this process and the clients to call it with.
type Harness struct {
	Deployment  deployment.DeploymentServiceClient
	Livestate   livestate.LivestateServiceClient
	PlanPreview planpreview.PlanPreviewServiceClient
	// Conn reaches the plugin for other services.
	Conn *grpc.ClientConn
	// Piped is what the plugin talks to.
	Piped *Piped

	name    string
	targets []string
	stop    func() error
}

// Start serves the plugin until the test ends.
func Start(t testing.TB, plugin sdk.Plugin, opts Options) *Harness {
	t.Helper()
	if opts.Name == "" {
		opts.Name = "plugin"
	}
	settings := sdk.Settings{Name: opts.Name, URL: "file:///plugin", DeployTargets: opts.DeployTargets}
	if opts.Config != nil {
		data, err := json.Marshal(opts.Config)
		require.NoError(t, err)
		settings.Config = data
	}
	piped := opts.Piped
	if piped == nil {
		piped = startPiped(t, opts.OldPiped)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serve := sdk.ServeOptions{
		Settings: settings, PipedAddress: piped.Address, Listener: listener,
		GracePeriod: 20 * time.Second, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if piped.Old() {
		serve.CommandPoll = 5 * time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- sdk.Serve(ctx, plugin, serve) }()

	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	h := newHarness(conn, piped, opts)
	h.stop = sync.OnceValue(func() error { cancel(); return <-served })
	t.Cleanup(func() {
		require.NoError(t, h.Stop())
		require.NoError(t, conn.Close())
	})
	return h
}

func newHarness(conn *grpc.ClientConn, piped *Piped, opts Options) *Harness {
	h := &Harness{
		Deployment:  deployment.NewDeploymentServiceClient(conn),
		Livestate:   livestate.NewLivestateServiceClient(conn),
		PlanPreview: planpreview.NewPlanPreviewServiceClient(conn),
		Conn:        conn,
		Piped:       piped,
		name:        opts.Name,
	}
	for _, target := range opts.DeployTargets {
		h.targets = append(h.targets, target.Name)
	}
	return h
}

// Stop ends the plugin as SIGTERM does and waits for it.
func (h *Harness) Stop() error { return h.stop() }

// Request makes a valid request to execute a stage. The stage's id is its name in lower case, so that
// tests can name it; options is the JSON of its "with". The caller changes what it wants different.
func (h *Harness) Request(stage, options string) *deployment.ExecuteStageRequest {
	return standin.ExecuteRequest(h.name, h.targets, stage, options)
}

// Plan asks for the stages of a pipeline of these configured ones, in their order, with rollback. Index is
// filled in; empty Options are {}.
func (h *Harness) Plan(ctx context.Context, configured ...sdk.StageConfig) ([]*model.PipelineStage, error) {
	request := &deployment.BuildPipelineSyncStagesRequest{Rollback: true}
	for i, c := range configured {
		options := c.Options
		if len(options) == 0 {
			options = []byte("{}")
		}
		request.Stages = append(request.Stages, &deployment.BuildPipelineSyncStagesRequest_StageConfig{
			Name: c.Name, Desc: c.Desc, Index: int32(i), Config: options,
		})
	}
	resp, err := h.Deployment.BuildPipelineSyncStages(ctx, request)
	return resp.GetStages(), err
}

// Execute runs a stage with the request that Request makes and fails the test when the call fails.
func (h *Harness) Execute(t testing.TB, stage, options string) model.StageStatus {
	t.Helper()
	resp, err := h.Deployment.ExecuteStage(t.Context(), h.Request(stage, options))
	require.NoError(t, err)
	return resp.GetStatus()
}

// Go is Execute in the background; the channel gives the status once.
func (h *Harness) Go(ctx context.Context, t testing.TB, stage, options string) <-chan model.StageStatus {
	t.Helper()
	ended := make(chan model.StageStatus, 1)
	go func() {
		resp, err := h.Deployment.ExecuteStage(ctx, h.Request(stage, options))
		if err != nil {
			t.Logf("execute %s: %v", stage, err)
		}
		ended <- resp.GetStatus()
	}()
	return ended
}

// Preview asks what a change from running, which may be nil, to target would do at every deploy target, and fails the
// test when the call fails.
func (h *Harness) Preview(t testing.TB, running, target *common.DeploymentSource) []*planpreview.PlanPreviewResult {
	t.Helper()
	resp, err := h.PlanPreview.GetPlanPreview(t.Context(), &planpreview.GetPlanPreviewRequest{
		PipedId: "piped-1", ApplicationId: standin.ApplicationID, ApplicationName: "demo", DeployTargets: h.targets,
		TargetDeploymentSource: target, RunningDeploymentSource: running,
	})
	require.NoError(t, err)
	return resp.GetResults()
}
