// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// controlPlane is a control plane over real gRPC that remembers what it received.
type controlPlane struct {
	pipedservice.UnimplementedPipedServiceServer

	address string

	mu       sync.Mutex
	changed  *sync.Cond
	requests []proto.Message // all of them
	calls    []string        // "Planned", "Status RUNNING", "Stage A RUNNING 0", …
	names    map[string]string
	logs     []string // "A 0 text"
	// atRollback are the logs as the rollback began.
	atRollback []string
	completed  map[string]*pipedservice.ReportDeploymentCompletedRequest
	planned    map[string]*pipedservice.ReportDeploymentPlannedRequest
	handled    map[string]*pipedservice.ReportCommandHandledRequest
	sync       map[string]*model.ApplicationSyncState
	deploying  map[string]bool
	success    map[string]*model.ApplicationDeploymentReference
	known      map[string]*model.Deployment
	stage      map[string]*pipedservice.ReportStageStatusChangedRequest
	shared     map[string]string // as saved last
	pauses     map[string]string // the notes of pauses as saved last, by the name of the stage
	// refuse, when set, may give reports of stages an error.
	refuse func(*pipedservice.ReportStageStatusChangedRequest) error
	// turn answers for chains; nil knows none.
	turn func() *pipedservice.InChainDeploymentPlannableResponse
}

func startControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	c := &controlPlane{
		names:     map[string]string{},
		completed: map[string]*pipedservice.ReportDeploymentCompletedRequest{},
		planned:   map[string]*pipedservice.ReportDeploymentPlannedRequest{},
		handled:   map[string]*pipedservice.ReportCommandHandledRequest{},
		sync:      map[string]*model.ApplicationSyncState{},
		deploying: map[string]bool{},
		success:   map[string]*model.ApplicationDeploymentReference{},
		known:     map[string]*model.Deployment{},
		stage:     map[string]*pipedservice.ReportStageStatusChangedRequest{},
		pauses:    map[string]string{},
	}
	c.changed = sync.NewCond(&c.mu)
	server := grpc.NewServer(grpc.UnaryInterceptor(c.validate))
	pipedservice.RegisterPipedServiceServer(server, c)
	c.address = controlplanetest.ServeGRPC(t, server)
	return c
}

func (c *controlPlane) client(t *testing.T) pipedservice.PipedServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(c.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return pipedservice.NewPipedServiceClient(conn)
}

// validate holds piped to the rules of the messages, and wakes those who wait for a call.
func (c *controlPlane) validate(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (any, error) {
	if err := request.(interface{ Validate() error }).Validate(); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.changed.Broadcast()
	c.requests = append(c.requests, request.(proto.Message))
	return handle(ctx, request)
}

// await waits until the condition holds; it is called with the lock held.
func (c *controlPlane) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx := deadline(t)
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changed.Broadcast()
	})
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !condition() {
		if ctx.Err() != nil {
			require.Fail(t, "timed out waiting for "+what, "calls so far:\n%s", strings.Join(c.calls, "\n"))
		}
		c.changed.Wait()
	}
}

func (c *controlPlane) awaitCall(t *testing.T, call string) {
	t.Helper()
	c.await(t, call, func() bool { return slices.Contains(c.calls, call) })
}

func (c *controlPlane) awaitEnd(t *testing.T, id string) *pipedservice.ReportDeploymentCompletedRequest {
	t.Helper()
	c.await(t, "the end of "+id, func() bool { return c.completed[id] != nil })
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.completed[id]
}

func (c *controlPlane) recorded() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

func (c *controlPlane) plan(deployment string) *pipedservice.ReportDeploymentPlannedRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.planned[deployment]
}

func (c *controlPlane) report(stage string) *pipedservice.ReportStageStatusChangedRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stage[stage]
}

func (c *controlPlane) command(id string) *pipedservice.ReportCommandHandledRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.handled[id]
}

func (c *controlPlane) stageLog() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.logs, "\n")
}

func (c *controlPlane) GetApplicationMostRecentDeployment(
	_ context.Context, r *pipedservice.GetApplicationMostRecentDeploymentRequest,
) (*pipedservice.GetApplicationMostRecentDeploymentResponse, error) {
	if ref := c.success[r.GetApplicationId()]; ref != nil {
		return &pipedservice.GetApplicationMostRecentDeploymentResponse{Deployment: ref}, nil
	}
	return nil, status.Error(codes.NotFound, "none")
}

func (c *controlPlane) ListApplications(
	context.Context, *pipedservice.ListApplicationsRequest,
) (*pipedservice.ListApplicationsResponse, error) {
	if c.sync["app"] == nil {
		return nil, status.Error(codes.Unavailable, "no answer")
	}
	return &pipedservice.ListApplicationsResponse{
		Applications: []*model.Application{{Id: "other"}, {Id: "app", SyncState: c.sync["app"]}},
	}, nil
}

func (c *controlPlane) GetDeployment(
	_ context.Context, r *pipedservice.GetDeploymentRequest,
) (*pipedservice.GetDeploymentResponse, error) {
	if d := c.known[r.GetId()]; d != nil {
		return &pipedservice.GetDeploymentResponse{Deployment: d}, nil
	}
	return nil, status.Error(codes.NotFound, "none")
}

func (c *controlPlane) InChainDeploymentPlannable(
	context.Context, *pipedservice.InChainDeploymentPlannableRequest,
) (*pipedservice.InChainDeploymentPlannableResponse, error) {
	if c.turn == nil {
		return nil, status.Error(codes.NotFound, "no such chain")
	}
	c.calls = append(c.calls, "Turn")
	return c.turn(), nil
}

func (c *controlPlane) ReportDeploymentPlanned(
	_ context.Context, r *pipedservice.ReportDeploymentPlannedRequest,
) (*pipedservice.ReportDeploymentPlannedResponse, error) {
	c.planned[r.GetDeploymentId()] = r
	for _, stage := range r.GetStages() {
		c.names[stage.GetId()] = stage.GetName()
	}
	c.calls = append(c.calls, "Planned "+r.GetSyncStrategy().String())
	return &pipedservice.ReportDeploymentPlannedResponse{}, nil
}

func (c *controlPlane) ReportDeploymentStatusChanged(
	_ context.Context, r *pipedservice.ReportDeploymentStatusChangedRequest,
) (*pipedservice.ReportDeploymentStatusChangedResponse, error) {
	if r.GetStatus() == model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK {
		c.atRollback = slices.Clone(c.logs)
	}
	c.calls = append(c.calls, "Status "+strings.TrimPrefix(r.GetStatus().String(), "DEPLOYMENT_"))
	return &pipedservice.ReportDeploymentStatusChangedResponse{}, nil
}

func (c *controlPlane) ReportStageStatusChanged(
	_ context.Context, r *pipedservice.ReportStageStatusChangedRequest,
) (*pipedservice.ReportStageStatusChangedResponse, error) {
	name := c.names[r.GetStageId()]
	if name == "" {
		name = r.GetStageId()
	}
	if c.refuse != nil {
		if err := c.refuse(r); err != nil {
			return nil, err
		}
	}
	c.stage[name] = r
	c.calls = append(
		c.calls,
		fmt.Sprintf("Stage %s %s %d", name, strings.TrimPrefix(r.GetStatus().String(), "STAGE_"), r.GetRetriedCount()),
	)
	return &pipedservice.ReportStageStatusChangedResponse{}, nil
}

func (c *controlPlane) ReportDeploymentCompleted(
	_ context.Context, r *pipedservice.ReportDeploymentCompletedRequest,
) (*pipedservice.ReportDeploymentCompletedResponse, error) {
	c.completed[r.GetDeploymentId()] = r
	c.calls = append(c.calls, "Completed "+strings.TrimPrefix(r.GetStatus().String(), "DEPLOYMENT_"))
	return &pipedservice.ReportDeploymentCompletedResponse{}, nil
}

func (c *controlPlane) ReportApplicationMostRecentDeployment(
	_ context.Context, r *pipedservice.ReportApplicationMostRecentDeploymentRequest,
) (*pipedservice.ReportApplicationMostRecentDeploymentResponse, error) {
	c.success[r.GetApplicationId()] = r.GetDeployment()
	return &pipedservice.ReportApplicationMostRecentDeploymentResponse{}, nil
}

func (c *controlPlane) ReportApplicationDeployingStatus(
	_ context.Context, r *pipedservice.ReportApplicationDeployingStatusRequest,
) (*pipedservice.ReportApplicationDeployingStatusResponse, error) {
	c.deploying[r.GetApplicationId()] = r.GetDeploying()
	return &pipedservice.ReportApplicationDeployingStatusResponse{}, nil
}

func (c *controlPlane) ReportApplicationSyncState(
	_ context.Context, r *pipedservice.ReportApplicationSyncStateRequest,
) (*pipedservice.ReportApplicationSyncStateResponse, error) {
	c.sync[r.GetApplicationId()] = r.GetState()
	return &pipedservice.ReportApplicationSyncStateResponse{}, nil
}

func (c *controlPlane) ReportCommandHandled(
	_ context.Context, r *pipedservice.ReportCommandHandledRequest,
) (*pipedservice.ReportCommandHandledResponse, error) {
	c.handled[r.GetCommandId()] = r
	return &pipedservice.ReportCommandHandledResponse{}, nil
}

func (c *controlPlane) ReportStageLogs(
	_ context.Context, r *pipedservice.ReportStageLogsRequest,
) (*pipedservice.ReportStageLogsResponse, error) {
	c.log(r.GetStageId(), r.GetRetriedCount(), r.GetBlocks())
	return &pipedservice.ReportStageLogsResponse{}, nil
}

func (c *controlPlane) ReportStageLogsFromLastCheckpoint(
	_ context.Context, r *pipedservice.ReportStageLogsFromLastCheckpointRequest,
) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	c.log(r.GetStageId(), r.GetRetriedCount(), r.GetBlocks())
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

func (c *controlPlane) SaveStageMetadata(
	_ context.Context, r *pipedservice.SaveStageMetadataRequest,
) (*pipedservice.SaveStageMetadataResponse, error) {
	if note, ok := r.GetMetadata()[scheduler.PauseMetadataKey]; ok {
		name := cmp.Or(c.names[r.GetStageId()], r.GetStageId())
		c.pauses[name] = note
		c.calls = append(c.calls, "Paused "+name+" "+pausedWhen(note))
	}
	return &pipedservice.SaveStageMetadataResponse{}, nil
}

func (c *controlPlane) SaveDeploymentSharedMetadata(
	_ context.Context, r *pipedservice.SaveDeploymentSharedMetadataRequest,
) (*pipedservice.SaveDeploymentSharedMetadataResponse, error) {
	c.shared = r.GetMetadata()
	c.calls = append(c.calls, "Shared metadata")
	return &pipedservice.SaveDeploymentSharedMetadataResponse{}, nil
}

func (c *controlPlane) SaveDeploymentPluginMetadata(
	context.Context, *pipedservice.SaveDeploymentPluginMetadataRequest,
) (*pipedservice.SaveDeploymentPluginMetadataResponse, error) {
	return &pipedservice.SaveDeploymentPluginMetadataResponse{}, nil
}

func (c *controlPlane) log(stage string, attempt int32, blocks []*model.LogBlock) {
	for _, block := range blocks {
		c.logs = append(c.logs, fmt.Sprintf("%s %d %s", c.names[stage], attempt, block.GetLog()))
	}
}

func newDeployment(id, application string) *model.Deployment {
	return &model.Deployment{
		Id: id, ApplicationId: application, ApplicationName: application, PipedId: "piped", ProjectId: "project",
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: application},
		Trigger: &model.DeploymentTrigger{
			Commit: &model.Commit{
				Hash:      "c0ffee",
				Message:   "change things",
				Author:    "dev",
				Branch:    "main",
				CreatedAt: 1,
			},
			Timestamp: 1,
		},
		CreatedAt: 1, UpdatedAt: 1,
	}
}

func with(d *model.Deployment, change func(*model.Deployment)) *model.Deployment {
	d = proto.CloneOf(d)
	change(d)
	return d
}
