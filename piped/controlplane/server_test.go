// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/system/clock"
)

// fakeServer is a control plane that answers what a test wants.
type fakeServer struct {
	pipedservice.UnimplementedPipedServiceServer
	agentv1.UnimplementedAgentServiceServer

	// answers are the errors of the next calls of ListApplications; nil for success, also when used up.
	answers chan error
	// pages are the pages of applications and events by cursor; nil serves no pages.
	pages map[string]listPage
	// watches gets each watch; the test sends on it and ends it.
	watches chan *watch

	mu             sync.Mutex
	calls          int
	authorizations []string
	logs           []*pipedservice.ReportStageLogsRequest
	checkpoints    []*pipedservice.ReportStageLogsFromLastCheckpointRequest
}

// listPage is the ids of one page and the cursor of the next one.
type listPage struct {
	ids  []string
	next string
}

func (s *fakeServer) PageApplications(_ context.Context,
	r *agentv1.PageApplicationsRequest) (*agentv1.PageApplicationsResponse, error) {
	page, ok := s.pages[r.GetCursor()]
	if !ok {
		return nil, status.Error(codes.Unimplemented, "no pages")
	}
	answer := &agentv1.PageApplicationsResponse{Cursor: page.next}
	for _, id := range page.ids {
		answer.Applications = append(answer.Applications, &model.Application{Id: id})
	}
	return answer, nil
}

func (s *fakeServer) PageEvents(_ context.Context, r *agentv1.PageEventsRequest) (*agentv1.PageEventsResponse, error) {
	page, ok := s.pages[r.GetCursor()]
	if !ok {
		return nil, status.Error(codes.Unimplemented, "no pages")
	}
	answer := &agentv1.PageEventsResponse{Cursor: page.next}
	for _, id := range page.ids {
		answer.Events = append(answer.Events, &model.Event{Id: id, Name: r.GetList().GetOrder().String()})
	}
	return answer, nil
}

func (s *fakeServer) ListEvents(context.Context, *pipedservice.ListEventsRequest) (*pipedservice.ListEventsResponse,
	error) {
	return &pipedservice.ListEventsResponse{Events: []*model.Event{{Id: "e"}}}, nil
}

// watch is one stream of AgentService.Watch.
type watch struct {
	send chan *agentv1.WatchResponse
	end  chan error
}

func (s *fakeServer) ListApplications(ctx context.Context,
	_ *pipedservice.ListApplicationsRequest) (*pipedservice.ListApplicationsResponse, error) {
	incoming, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.calls++
	s.authorizations = append(s.authorizations, incoming.Get("authorization")...)
	s.mu.Unlock()
	select {
	case err := <-s.answers:
		return &pipedservice.ListApplicationsResponse{}, err
	default:
		return &pipedservice.ListApplicationsResponse{Applications: []*model.Application{{Id: "a"}}}, nil
	}
}

func (s *fakeServer) ReportStageLogs(_ context.Context,
	r *pipedservice.ReportStageLogsRequest) (*pipedservice.ReportStageLogsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs = append(s.logs, r)
	return &pipedservice.ReportStageLogsResponse{}, nil
}

func (s *fakeServer) ReportStageLogsFromLastCheckpoint(_ context.Context,
	r *pipedservice.ReportStageLogsFromLastCheckpointRequest) (*pipedservice.ReportStageLogsFromLastCheckpointResponse,
	error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checkpoints = append(s.checkpoints, r)
	return &pipedservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

func (s *fakeServer) Watch(_ *agentv1.WatchRequest, stream grpc.ServerStreamingServer[agentv1.WatchResponse]) error {
	if s.watches == nil {
		return status.Error(codes.Unimplemented, "no watch here")
	}
	w := &watch{send: make(chan *agentv1.WatchResponse), end: make(chan error)}
	select {
	case s.watches <- w:
	case <-stream.Context().Done():
		return nil
	}
	for {
		select {
		case answer := <-w.send:
			if err := stream.Send(answer); err != nil {
				return err
			}
		case err := <-w.end:
			return err
		case <-stream.Context().Done():
			return nil
		}
	}
}

func newFakeServer() *fakeServer { return &fakeServer{answers: make(chan error, 100)} }

// serve runs the server as PipeCD's runs, with the default limit of 4 MiB a request, and returns its address.
func (s *fakeServer) serve(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(options...)
	pipedservice.RegisterPipedServiceServer(server, s)
	agentv1.RegisterAgentServiceServer(server, s)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			require.ErrorIs(t, err, grpc.ErrServerStopped, "Stop may come before Serve")
		}
	})
	return listener.Addr().String()
}

func (s *fakeServer) callCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *fakeServer) client(t *testing.T, timer clock.Timer) *Client {
	t.Helper()
	return dialTest(t, Options{Address: s.serve(t), ProjectID: "dev", PipedID: "p", Key: []byte("k\n"), Insecure: true,
		Clock: timer})
}

func dialTest(t *testing.T, o Options) *Client {
	t.Helper()
	client, err := Dial(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// eagerClock lets every pause pass at once and notes its length.
type eagerClock struct {
	mu     sync.Mutex
	pauses []time.Duration
}

func (c *eagerClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses = append(c.pauses, d)
	passed := make(chan time.Time, 1)
	passed <- time.Time{}
	return passed
}

// steppedClock lets a pause pass when the test takes it.
type steppedClock struct{ waiting chan pause }

type pause struct {
	length time.Duration
	pass   chan time.Time
}

func (c *steppedClock) After(d time.Duration) <-chan time.Time {
	p := pause{length: d, pass: make(chan time.Time, 1)}
	go func() { c.waiting <- p }()
	return p.pass
}
