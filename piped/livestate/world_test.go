// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	pluginlivestate "github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
	"github.com/pipedeck/pipedeck/piped/livestate"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// world is a control plane, plugins and a Reporter between them.
type world struct {
	t        *testing.T
	reporter *livestate.Reporter
	client   pipedservice.PipedServiceClient
	clock    *clock
	plane    *plane
	plugins  map[string]*plugin
	sources  *sources
	drifts   chan struct{}
}

func newWorld(t *testing.T, plugins ...*plugin) *world {
	t.Helper()
	w := &world{
		t: t, clock: newClock(),
		plane: &plane{
			applications: map[string]*model.Application{}, live: make(chan *model.ApplicationLiveStateSnapshot, 100),
			sync:  make(chan *pipedservice.ReportApplicationSyncStateRequest, 100),
			drift: make(chan *agentv1.ReportDriftRequest, 100), looks: make(chan *agentv1.Look, 100),
		},
		plugins: map[string]*plugin{}, sources: &sources{}, drifts: make(chan struct{}, 100),
	}
	options := livestate.Options{
		PipedID: "piped-1", ProjectID: "project-1", ControlPlane: w.plane, Drifts: w.plane, Looks: w.plane,
		Clock: w.clock, Prepare: w.sources.prepare,
		OutOfSync: func() { w.drifts <- struct{}{} }, Deployments: &livestate.Deployments{},
	}
	for _, p := range plugins {
		w.plugins[p.name] = p
		options.Plugins = append(options.Plugins, livestate.Plugin{Name: p.name, Livestate: p, Changes: p, Drift: p})
	}
	w.reporter = livestate.New(options)
	address := controlplanetest.Serve(
		t, func(context.Context, string, proto.Message) (proto.Message, error) { return nil, nil },
	)
	w.client = controlplanetest.Dial(t, address, controlplane.Layers{LiveState: options.Deployments.Intercept})
	return w
}

// start runs the Reporter until the test ends; nothing may be left open then.
func (w *world) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.reporter.Run(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		require.NoError(w.t, <-ended)
		w.sources.mu.Lock()
		defer w.sources.mu.Unlock()
		require.Zero(w.t, w.sources.open, "every source is closed")
	})
}

func (w *world) nextLive() *model.ApplicationLiveStateSnapshot {
	w.t.Helper()
	return chantest.Receive(w.t, w.plane.live)
}

func (w *world) nextSync() *pipedservice.ReportApplicationSyncStateRequest {
	w.t.Helper()
	return chantest.Receive(w.t, w.plane.sync)
}

// deployed is an application whose last deployment has succeeded.
func deployed(id string, plugins ...string) *model.Application {
	a := &model.Application{
		Id: id, Name: id, Kind: model.ApplicationKind_KUBERNETES,
		DeployTargetsByPlugin: map[string]*model.DeployTargets{},
		MostRecentlySuccessfulDeployment: &model.ApplicationDeploymentReference{
			DeploymentId: "deployment-1", ConfigFilename: "web.pipecd.yaml",
			Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "c1"}},
		},
		MostRecentlyTriggeredDeployment: &model.ApplicationDeploymentReference{DeploymentId: "deployment-1"},
	}
	for _, p := range plugins {
		a.DeployTargetsByPlugin[p] = &model.DeployTargets{DeployTargets: []string{"local"}}
	}
	return a
}

// plane is the part of a control plane that is asked.
type plane struct {
	pipedservice.PipedServiceClient
	mu           sync.Mutex
	applications map[string]*model.Application
	refuse       int // lists
	lists        int
	listing      func() // nil for nothing
	reporting    func() // before a sync state is taken; nil for nothing
	liveErr      error  // the answer to live states
	deployments  map[string]*model.Deployment
	live         chan *model.ApplicationLiveStateSnapshot
	sync         chan *pipedservice.ReportApplicationSyncStateRequest
	drift        chan *agentv1.ReportDriftRequest
	looks        chan *agentv1.Look
	// driftless: it knows no fields of drifts.
	driftless bool
}

func (p *plane) ReportDrift(
	_ context.Context, r *agentv1.ReportDriftRequest, _ ...grpc.CallOption,
) (*agentv1.ReportDriftResponse, error) {
	p.drift <- r
	if p.driftless {
		return nil, status.Error(codes.Unimplemented, "unknown method")
	}
	return &agentv1.ReportDriftResponse{}, nil
}

func (p *plane) ReportLooks(
	_ context.Context, r *agentv1.ReportLooksRequest, _ ...grpc.CallOption,
) (*agentv1.ReportLooksResponse, error) {
	for _, look := range r.GetLooks() {
		p.looks <- look
	}
	return &agentv1.ReportLooksResponse{}, nil
}

func (p *plane) set(a *model.Application) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.applications[a.GetId()] = a
}

// failLive answers live states with an error from now on.
func (p *plane) failLive(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.liveErr = err
}

func (p *plane) ListApplications(
	context.Context, *pipedservice.ListApplicationsRequest, ...grpc.CallOption,
) (*pipedservice.ListApplicationsResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse > 0 {
		p.refuse--
		return nil, status.Error(codes.Unavailable, "away")
	}
	p.lists++
	if p.listing != nil {
		p.listing()
	}
	answer := &pipedservice.ListApplicationsResponse{}
	for _, a := range p.applications {
		answer.Applications = append(answer.Applications, a)
	}
	return answer, nil
}

func (p *plane) GetDeployment(
	_ context.Context, r *pipedservice.GetDeploymentRequest, _ ...grpc.CallOption,
) (*pipedservice.GetDeploymentResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.deployments[r.GetId()]; d != nil {
		return &pipedservice.GetDeploymentResponse{Deployment: d}, nil
	}
	return nil, status.Error(codes.NotFound, "forgotten")
}

func (p *plane) ReportApplicationLiveState(
	_ context.Context, r *pipedservice.ReportApplicationLiveStateRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportApplicationLiveStateResponse, error) {
	p.mu.Lock()
	err := p.liveErr
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p.live <- r.GetSnapshot()
	return &pipedservice.ReportApplicationLiveStateResponse{}, nil
}

func (p *plane) ReportApplicationSyncState(
	_ context.Context, r *pipedservice.ReportApplicationSyncStateRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportApplicationSyncStateResponse, error) {
	if p.reporting != nil {
		p.reporting()
	}
	p.sync <- r
	return &pipedservice.ReportApplicationSyncStateResponse{}, nil
}

// plugin answers for every application the same.
type plugin struct {
	name string
	// hold, unless nil, is received from before each answer.
	hold chan struct{}
	// changes are answers to the question for changes; nil for a plugin that does not report them.
	changes chan *pluginlivestate.AwaitChangesResponse

	mu       sync.Mutex
	state    model.ApplicationSyncStatus
	health   model.ResourceState_HealthStatus
	err      error
	requests []*pluginlivestate.GetLivestateRequest
	fresh    int // requests for a user
	// drift is the answer about fields; nil for a plugin that knows none.
	drift    *pluginlivestate.GetDriftResponse
	drifts   []*pluginlivestate.GetDriftRequest
	now, top int // answers under way
}

func (p *plugin) answer(state model.ApplicationSyncStatus, health model.ResourceState_HealthStatus, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.health, p.err = state, health, err
}

func (p *plugin) asked() []*pluginlivestate.GetLivestateRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*pluginlivestate.GetLivestateRequest(nil), p.requests...)
}

func (p *plugin) GetLivestate(
	ctx context.Context, r *pluginlivestate.GetLivestateRequest, _ ...grpc.CallOption,
) (*pluginlivestate.GetLivestateResponse, error) {
	p.mu.Lock()
	p.requests = append(p.requests, r)
	if asked, _ := metadata.FromOutgoingContext(ctx); len(asked.Get("pipedeck-fresh-look")) > 0 {
		p.fresh++
	}
	p.now++
	p.top = max(p.top, p.now)
	state, health, err := p.state, p.health, p.err
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.now--
		p.mu.Unlock()
	}()
	if p.hold != nil {
		select {
		case <-p.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	return &pluginlivestate.GetLivestateResponse{
		ApplicationLiveState: &model.ApplicationLiveState{
			Resources: []*model.ResourceState{{Id: p.name, Name: p.name, PluginName: p.name, HealthStatus: health}},
		},
		SyncState: &model.ApplicationSyncState{
			Status: state, ShortReason: "short of " + p.name, Reason: "reason of " + p.name,
		},
	}, nil
}

func (p *plugin) askedFresh() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fresh
}

func (p *plugin) GetDrift(
	_ context.Context, r *pluginlivestate.GetDriftRequest, _ ...grpc.CallOption,
) (*pluginlivestate.GetDriftResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drifts = append(p.drifts, r)
	if p.drift == nil {
		return nil, status.Error(codes.Unimplemented, "unknown service")
	}
	return p.drift, nil
}

func (p *plugin) askedForDrift() []*pluginlivestate.GetDriftRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*pluginlivestate.GetDriftRequest(nil), p.drifts...)
}

func (p *plugin) AwaitChanges(
	ctx context.Context, _ *pluginlivestate.AwaitChangesRequest, _ ...grpc.CallOption,
) (*pluginlivestate.AwaitChangesResponse, error) {
	if p.changes == nil {
		return nil, status.Error(codes.Unimplemented, "unknown service")
	}
	select {
	case answer := <-p.changes:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// sources counts the directories that are open.
type sources struct {
	mu   sync.Mutex
	open int
	// content is that of every configuration.
	content string
}

type openSource struct {
	of      *sources
	commit  string
	config  string
	content string
}

func (s *sources) prepare(
	_ context.Context, _ *model.Application, commit, configFilename string,
) (livestate.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return &openSource{of: s, commit: commit, config: configFilename, content: s.content}, nil
}

func (s *openSource) Proto() *common.DeploymentSource {
	return &common.DeploymentSource{
		CommitHash: s.commit, ApplicationConfigFilename: s.config, ApplicationConfig: []byte(s.content),
	}
}

func (s *openSource) Close() error {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.open--
	if s.of.open < 0 {
		return fmt.Errorf("source of %s was closed twice", s.commit)
	}
	return nil
}

// clock stands still until it is moved.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[chan time.Time]time.Time
}

func newClock() *clock {
	return &clock{now: time.Unix(1_800_000_000, 0), timers: map[chan time.Time]time.Time{}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	fires := make(chan time.Time, 1)
	c.timers[fires] = c.now.Add(d)
	return fires
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for fires, at := range c.timers {
		if !at.After(c.now) {
			fires <- c.now
			delete(c.timers, fires)
		}
	}
}

// waits reports whether someone waits for a time between the two from now.
func (c *clock) waits(least, most time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.timers {
		if d := at.Sub(c.now); d >= least && d <= most {
			return true
		}
	}
	return false
}
