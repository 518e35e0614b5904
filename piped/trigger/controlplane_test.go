// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
)

// controlPlane is a control plane over real gRPC that registers every application it hears of, as that of
// the development environment does. It outlives the triggers that talk to it.
type controlPlane struct {
	pipedservice.UnimplementedPipedServiceServer
	address string
	// registered is called, without the lock, when there are new applications.
	registered func()

	mu           sync.Mutex
	changed      chan struct{} // closed and made again at each call
	applications []*model.Application
	deployments  map[string]*model.Deployment
	order        []string            // ids of deployments
	refused      []*model.Deployment // which it failed to create
	createdAt    []time.Time
	triggered    map[string]*model.ApplicationDeploymentReference
	states       map[string][]*model.ApplicationSyncState
	commands     []*model.Command
	handled      map[string][]*pipedservice.ReportCommandHandledRequest
	chains       []*pipedservice.CreateDeploymentChainRequest
	reports      [][]*model.ApplicationInfo // of unregistered applications
	updates      []*model.ApplicationInfo
	failures     map[string][]error // of the next calls, by method
	calls        map[string]int
	// reported is called, with the lock, with each sync state; nil for nothing.
	reported func(*model.ApplicationSyncState)
	habits
}

// habits are what some control planes do.
type habits struct {
	ignore bool // unregistered applications stay so
	moves  bool // applications get the place that is reported
}

func startControlPlane(t *testing.T) *controlPlane {
	t.Helper()
	c := &controlPlane{
		registered: func() {}, changed: make(chan struct{}), deployments: map[string]*model.Deployment{},
		triggered: map[string]*model.ApplicationDeploymentReference{},
		states:    map[string][]*model.ApplicationSyncState{},
		handled:   map[string][]*pipedservice.ReportCommandHandledRequest{}, failures: map[string][]error{},
		calls: map[string]int{},
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(c.intercept))
	pipedservice.RegisterPipedServiceServer(server, c)
	c.address = controlplanetest.ServeGRPC(t, server)
	return c
}

// intercept holds piped to the rules of the messages, fails what a test wants to fail, and wakes those who
// wait for a call. The handlers run with the lock held.
func (c *controlPlane) intercept(
	ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler,
) (any, error) {
	if err := request.(interface{ ValidateAll() error }).ValidateAll(); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.broadcast()
	name := info.FullMethod[len("/grpc.service.pipedservice.PipedService/"):]
	c.calls[name]++
	if list := c.failures[name]; len(list) > 0 {
		c.failures[name] = list[1:]
		if create, ok := request.(*pipedservice.CreateDeploymentRequest); ok {
			c.refused = append(c.refused, create.GetDeployment())
		}
		return nil, list[0]
	}
	answer, err := handle(ctx, request)
	if err != nil {
		return nil, err
	}
	return proto.Clone(answer.(proto.Message)), nil // it is sent without the lock
}

func (c *controlPlane) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until the condition holds; it is called with the lock held.
func (c *controlPlane) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		c.mu.Lock()
		holds, changed := condition(), c.changed
		c.mu.Unlock()
		if holds {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			require.FailNow(t, "timed out waiting for "+what)
		}
	}
}

// read gives a test the lock.
func (c *controlPlane) read(look func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	look()
}

func (c *controlPlane) fail(method string, errs ...error) {
	c.read(func() { c.failures[method] = errs })
}

func (c *controlPlane) ListApplications(
	context.Context, *pipedservice.ListApplicationsRequest,
) (*pipedservice.ListApplicationsResponse, error) {
	answer := &pipedservice.ListApplicationsResponse{}
	for _, a := range c.applications {
		if a.GetDisabled() {
			continue
		}
		a = proto.CloneOf(a)
		a.MostRecentlyTriggeredDeployment = c.triggered[a.GetId()]
		if states := c.states[a.GetId()]; len(states) > 0 {
			a.SyncState = states[len(states)-1]
		}
		answer.Applications = append(answer.Applications, a)
	}
	return answer, nil
}

func (c *controlPlane) ReportUnregisteredApplicationConfigurations(
	_ context.Context, r *pipedservice.ReportUnregisteredApplicationConfigurationsRequest,
) (*pipedservice.ReportUnregisteredApplicationConfigurationsResponse, error) {
	c.reports = append(c.reports, r.GetApplications())
	if c.ignore {
		return &pipedservice.ReportUnregisteredApplicationConfigurationsResponse{}, nil
	}
	for _, info := range r.GetApplications() {
		c.applications = append(c.applications, &model.Application{
			Id: "id:" + info.GetRepoId() + ":" + info.GetPath() + ":" + info.GetConfigFilename(), Name: info.GetName(),
			PipedId: "p", ProjectId: "dev",
			GitPath: &model.ApplicationGitPath{
				Repo: &model.ApplicationGitRepository{Id: info.GetRepoId()}, Path: info.GetPath(),
				ConfigFilename: info.GetConfigFilename(),
			},
			DeployTargetsByPlugin: map[string]*model.DeployTargets{"kubernetes": {DeployTargets: []string{"local"}}},
			Labels:                info.GetLabels(), Description: info.GetDescription(), CreatedAt: 1, UpdatedAt: 1,
		})
	}
	if len(r.GetApplications()) > 0 {
		c.registered()
	}
	return &pipedservice.ReportUnregisteredApplicationConfigurationsResponse{}, nil
}

func (c *controlPlane) UpdateApplicationConfigurations(
	_ context.Context, r *pipedservice.UpdateApplicationConfigurationsRequest,
) (*pipedservice.UpdateApplicationConfigurationsResponse, error) {
	c.updates = append(c.updates, r.GetApplications()...)
	for _, info := range r.GetApplications() {
		for _, a := range c.applications {
			if a.GetId() == info.GetId() {
				if c.moves {
					a.GitPath.Path, a.GitPath.ConfigFilename = info.GetPath(), info.GetConfigFilename()
				}
				a.Name, a.Labels, a.Description = info.GetName(), info.GetLabels(), info.GetDescription()
				// A control plane may give an application other targets by its labels.
				if target := info.GetLabels()["target"]; target != "" {
					a.DeployTargetsByPlugin = map[string]*model.DeployTargets{
						"kubernetes": {DeployTargets: []string{target}},
					}
				}
			}
		}
	}
	return &pipedservice.UpdateApplicationConfigurationsResponse{}, nil
}

func (c *controlPlane) ReportApplicationSyncState(
	_ context.Context, r *pipedservice.ReportApplicationSyncStateRequest,
) (*pipedservice.ReportApplicationSyncStateResponse, error) {
	c.states[r.GetApplicationId()] = append(c.states[r.GetApplicationId()], r.GetState())
	if c.reported != nil {
		c.reported(r.GetState())
	}
	return &pipedservice.ReportApplicationSyncStateResponse{}, nil
}

func (c *controlPlane) GetApplicationMostRecentDeployment(
	_ context.Context, r *pipedservice.GetApplicationMostRecentDeploymentRequest,
) (*pipedservice.GetApplicationMostRecentDeploymentResponse, error) {
	ref := c.triggered[r.GetApplicationId()]
	if ref == nil || r.GetStatus() != model.DeploymentStatus_DEPLOYMENT_PENDING {
		return nil, status.Error(codes.NotFound, "no deployment yet")
	}
	return &pipedservice.GetApplicationMostRecentDeploymentResponse{Deployment: ref}, nil
}

func (c *controlPlane) ReportApplicationMostRecentDeployment(
	_ context.Context, r *pipedservice.ReportApplicationMostRecentDeploymentRequest,
) (*pipedservice.ReportApplicationMostRecentDeploymentResponse, error) {
	c.triggered[r.GetApplicationId()] = r.GetDeployment()
	return &pipedservice.ReportApplicationMostRecentDeploymentResponse{}, nil
}

func (c *controlPlane) CreateDeployment(
	_ context.Context, r *pipedservice.CreateDeploymentRequest,
) (*pipedservice.CreateDeploymentResponse, error) {
	return &pipedservice.CreateDeploymentResponse{}, c.create(r.GetDeployment())
}

func (c *controlPlane) CreateDeploymentChain(
	_ context.Context, r *pipedservice.CreateDeploymentChainRequest,
) (*pipedservice.CreateDeploymentChainResponse, error) {
	c.chains = append(c.chains, proto.CloneOf(r))
	r.GetFirstDeployment().DeploymentChainId = "chain-of-the-control-plane"
	return &pipedservice.CreateDeploymentChainResponse{}, c.create(r.GetFirstDeployment())
}

func (c *controlPlane) create(d *model.Deployment) error {
	if c.deployments[d.GetId()] != nil {
		return status.Error(codes.AlreadyExists, "it exists")
	}
	c.deployments[d.GetId()] = d
	c.order = append(c.order, d.GetId())
	c.createdAt = append(c.createdAt, time.Now())
	return nil
}

func (c *controlPlane) GetDeployment(
	_ context.Context, r *pipedservice.GetDeploymentRequest,
) (*pipedservice.GetDeploymentResponse, error) {
	d := c.deployments[r.GetId()]
	if d == nil {
		return nil, status.Error(codes.NotFound, "no such deployment")
	}
	return &pipedservice.GetDeploymentResponse{Deployment: d}, nil
}

func (c *controlPlane) ListNotCompletedDeployments(
	context.Context, *pipedservice.ListNotCompletedDeploymentsRequest,
) (*pipedservice.ListNotCompletedDeploymentsResponse, error) {
	answer := &pipedservice.ListNotCompletedDeploymentsResponse{}
	for _, id := range c.order {
		if d := c.deployments[id]; d.GetCompletedAt() == 0 {
			answer.Deployments = append(answer.Deployments, d)
		}
	}
	return answer, nil
}

func (c *controlPlane) ReportCommandHandled(
	_ context.Context, r *pipedservice.ReportCommandHandledRequest,
) (*pipedservice.ReportCommandHandledResponse, error) {
	c.handled[r.GetCommandId()] = append(c.handled[r.GetCommandId()], r)
	return &pipedservice.ReportCommandHandledResponse{}, nil
}
