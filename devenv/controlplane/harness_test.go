// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

// The identities in the recordings.
const (
	project = "proj"
	pipedID = "00000000-0000-4000-8000-000000000001"
	keyID   = "00000000-0000-4000-8000-000000000007"
)

var (
	pipedKey   = strings.Repeat("K", 50)
	apiKey     = keyID + "." + strings.Repeat("A", 32)
	pipedToken = "PIPED-TOKEN " + project + "," + pipedID + "," + pipedKey
)

// plane is a running control plane with a client for each of its services.
type plane struct {
	server  *controlplane.Server
	address string
	// With the credentials of the piped and of a user.
	pipedConn, userConn *grpc.ClientConn
	piped               pipedservice.PipedServiceClient
	agent               agentv1.AgentServiceClient
	api                 apiservice.APIServiceClient
	deck                deckv1.DeckServiceClient
	// Stops the server and waits for it.
	stop func()
}

func start(t *testing.T, change ...func(*controlplane.Config)) *plane {
	t.Helper()
	cfg := controlplane.Config{
		ProjectID: project, PipedID: pipedID, PipedName: "p1", PipedKey: pipedKey, APIKey: apiKey,
		Environment: &deckv1.Environment{Name: "test"}, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	server, err := controlplane.New(cfg)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, listener) }()
	p := &plane{server: server, address: listener.Addr().String()}
	stopped := false
	p.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, <-done)
		}
	}
	t.Cleanup(p.stop)

	p.pipedConn = dial(t, p.address, pipedToken)
	p.userConn, err = client.Dial(p.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.userConn.Close() })
	p.piped, p.agent = pipedservice.NewPipedServiceClient(p.pipedConn), agentv1.NewAgentServiceClient(p.pipedConn)
	p.api, p.deck = apiservice.NewAPIServiceClient(p.userConn), deckv1.NewDeckServiceClient(p.userConn)
	return p
}

// dial sends the authorization with every call; none when it is empty.
func dial(t *testing.T, address, authorization string) *grpc.ClientConn {
	t.Helper()
	with := func(ctx context.Context) context.Context {
		if authorization == "" {
			return ctx
		}
		return metadata.AppendToOutgoingContext(ctx, "authorization", authorization)
	}
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(pipedTakes)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return invoke(with(ctx), method, req, reply, cc, opts...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
			stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			return stream(with(ctx), desc, cc, method, opts...)
		}),
	)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func requireCode(t *testing.T, want codes.Code, err error) {
	t.Helper()
	require.Equal(t, want, status.Code(err), "%v", err)
}

// importApplication registers an application under the id that it has in the recordings.
func (p *plane) importApplication(id, name string) {
	p.server.ImportApplication(&model.Application{
		Id: id, Name: name, PipedId: pipedID, ProjectId: project, CreatedAt: 1, UpdatedAt: 1,
		GitPath: &model.ApplicationGitPath{
			Repo: &model.ApplicationGitRepository{Id: "repo1", Remote: "file:///srv/repo.git", Branch: "main"},
			Path: name, ConfigFilename: "app.pipecd.yaml",
		},
	})
}

// view is what a user interface makes of the events.
type view struct {
	t            *testing.T
	stream       grpc.ServerStreamingClient[deckv1.WatchResponse]
	pending      []*deckv1.Event
	environment  *deckv1.Environment
	components   map[string]*deckv1.Component
	applications map[string]*deckv1.Application
	deployments  map[string]*deckv1.Deployment
	pipeds       map[string]*deckv1.Piped
	// Plugins of the first piped by name, those of others by "<piped id>/<name>".
	plugins map[string]*deckv1.Plugin
	logs    map[string]string
	caption *deckv1.Caption
	synced  int
	resets  int
	// Every status that a deployment or stage went through, by id.
	history map[string][]string
}

func (p *plane) watch(t *testing.T, logs bool) *view {
	t.Helper()
	stream, err := p.deck.Watch(testContext(t), &deckv1.WatchRequest{Logs: logs})
	require.NoError(t, err)
	v := &view{t: t, stream: stream, history: map[string][]string{}}
	v.forget()
	v.until(func() bool { return v.synced == 1 })
	return v
}

func (v *view) forget() {
	v.components, v.applications = map[string]*deckv1.Component{}, map[string]*deckv1.Application{}
	v.deployments, v.plugins = map[string]*deckv1.Deployment{}, map[string]*deckv1.Plugin{}
	v.caption = nil
	v.logs, v.pipeds = map[string]string{}, map[string]*deckv1.Piped{}
}

// until takes events until the condition holds.
func (v *view) until(condition func() bool) {
	v.t.Helper()
	for !condition() {
		if len(v.pending) == 0 {
			r, err := v.stream.Recv()
			require.NoError(v.t, err)
			require.NotEmpty(v.t, r.GetEvents())
			v.pending = r.GetEvents()
		}
		v.take(v.pending[0])
		v.pending = v.pending[1:]
	}
}

func (v *view) take(e *deckv1.Event) {
	require.NotNil(v.t, e.GetTime())
	switch k := e.GetKind().(type) {
	case *deckv1.Event_Environment:
		v.environment = k.Environment
	case *deckv1.Event_Component:
		v.components[k.Component.GetName()] = k.Component
	case *deckv1.Event_Caption:
		v.caption = k.Caption
	case *deckv1.Event_Application:
		v.applications[k.Application.GetId()] = k.Application
	case *deckv1.Event_Deployment:
		d := k.Deployment
		v.deployments[d.GetId()] = d
		v.note(d.GetId(), d.GetStatus().String())
		for _, s := range d.GetStages() {
			v.note(s.GetId(), s.GetStatus().String())
		}
	case *deckv1.Event_Plugin:
		v.plugins[pluginKey(k.Plugin.GetPipedId(), k.Plugin.GetName())] = k.Plugin
	case *deckv1.Event_Piped:
		v.pipeds[k.Piped.GetId()] = k.Piped
	case *deckv1.Event_Log:
		v.logs[k.Log.GetStageId()] += k.Log.GetText() + "\n"
	case *deckv1.Event_Synced:
		v.synced++
	case *deckv1.Event_Reset_:
		v.resets++
		v.forget()
	case *deckv1.Event_Removed:
		delete(v.applications, k.Removed.GetApplicationId())
		delete(v.plugins, pluginKey(k.Removed.GetPipedId(), k.Removed.GetPluginName()))
	}
}

func pluginKey(piped, name string) string {
	if piped == pipedID {
		return name
	}
	return piped + "/" + name
}

func (v *view) note(id, status string) {
	if h := v.history[id]; len(h) == 0 || h[len(h)-1] != status {
		v.history[id] = append(h, status)
	}
}

func (v *view) stage(deployment, id string) *deckv1.Stage {
	for _, s := range v.deployments[deployment].GetStages() {
		if s.GetId() == id {
			return s
		}
	}
	return nil
}
