// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Server is a deck server that a test scripts.
type Server struct {
	actions
	// Calls are the requests for actions, in their order. A test that expects more than 64 must read.
	Calls chan proto.Message

	address string
	grpc    *grpc.Server

	mu sync.Mutex
	// changed is closed and replaced at every change.
	changed chan struct{}
	// history is all that was published; a stream sends it from its beginning.
	history []*deckv1.Event
	logs    map[string]*stageLog
	runs    map[string]*deckv1.GetStageRunResponse
	pluginCallLog
	// resources are responses about an application, in their order.
	resources map[string][]*deckv1.WatchResourcesResponse
	// insights and branches are answers; previews those about a branch.
	insights *deckv1.GetInsightsResponse
	branches *deckv1.ListBranchesResponse
	previews map[string]preview
	refusal  error
	// unreadable is the error that readers of logs get; nil for none.
	unreadable error
	streams
	// held keeps the answers to actions back until it is closed; nil keeps none.
	held chan struct{}
}

// streams is what happens to every stream of events.
type streams struct {
	over bool
	// breaking counts the losses of the connection, beats the heartbeats.
	breaking, beats int
}

type stageLog struct {
	blocks   []*deckv1.LogBlock
	complete bool
}

// Start serves until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &Server{
		Calls: make(chan proto.Message, 64), address: listener.Addr().String(), grpc: grpc.NewServer(),
		changed: make(chan struct{}), pluginCallLog: pluginCallLog{followers: make(chan struct{})},
		logs: map[string]*stageLog{}, runs: map[string]*deckv1.GetStageRunResponse{},
		resources: map[string][]*deckv1.WatchResourcesResponse{}, previews: map[string]preview{},
	}
	s.note = s.called
	deckv1.RegisterDeckServiceServer(s.grpc, s)
	deckv1.RegisterPluginCallServiceServer(s.grpc, pluginCalls{server: s})
	var served sync.WaitGroup
	served.Go(func() { _ = s.grpc.Serve(listener) })
	t.Cleanup(func() {
		s.grpc.Stop()
		served.Wait()
	})
	return s
}

// Address is the host:port at which the server listens.
func (s *Server) Address() string { return s.address }

// Dial returns a client whose connection ends with the test.
func (s *Server) Dial(t testing.TB) deckv1.DeckServiceClient {
	t.Helper()
	connection, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return deckv1.NewDeckServiceClient(connection)
}

// Publish sends objects: Environment, Component, Application, Deployment, Plugin, Caption, Removed, LogBlock, Synced
// or Reset.
func (s *Server) Publish(objects ...proto.Message) {
	s.change(func() {
		for _, object := range objects {
			s.history = append(s.history, event(proto.Clone(object)))
		}
	})
}

// Log adds blocks to the log of a stage.
func (s *Server) Log(stage string, severity deckv1.Severity, texts ...string) {
	s.change(func() {
		l := s.log(stage)
		for _, text := range texts {
			l.blocks = append(l.blocks, &deckv1.LogBlock{StageId: stage, Text: text, Severity: severity,
				Index: int64(len(l.blocks))})
		}
	})
}

// LogAt adds a block that was written n seconds after the start of the example.
func (s *Server) LogAt(stage string, n float64, text string) {
	s.change(func() {
		l := s.log(stage)
		l.blocks = append(l.blocks, &deckv1.LogBlock{StageId: stage, Text: text, Time: At(n),
			Severity: deckv1.Severity_SEVERITY_INFO, Index: int64(len(l.blocks))})
	})
}

// Run is what GetStageRun answers about a stage from now on.
func (s *Server) Run(stage string, run *deckv1.GetStageRunResponse) {
	s.change(func() { s.runs[stage] = run })
}

// GetStageRun answers what Run has set, by the id of the stage.
func (s *Server) GetStageRun(_ context.Context,
	r *deckv1.GetStageRunRequest) (*deckv1.GetStageRunResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run := s.runs[r.GetStageId()]; run != nil {
		return proto.CloneOf(run), nil
	}
	return &deckv1.GetStageRunResponse{}, nil
}

// CompleteLog ends the log of a stage.
func (s *Server) CompleteLog(stage string) { s.change(func() { s.log(stage).complete = true }) }

// ReopenLog has the log of a stage go on, as that of a stage that runs again.
func (s *Server) ReopenLog(stage string) { s.change(func() { s.log(stage).complete = false }) }

// Refuse answers actions with err from now on; nil accepts them again.
func (s *Server) Refuse(err error) { s.change(func() { s.refusal = err }) }

// RefuseLogs answers readers of logs with err from now on; nil lets them read again.
func (s *Server) RefuseLogs(err error) { s.change(func() { s.unreadable = err }) }

// End closes every stream on purpose, as an environment does that is being shut down.
func (s *Server) End() { s.change(func() { s.over = true }) }

// Break ends every stream as a lost connection would.
func (s *Server) Break() { s.change(func() { s.breaking++ }) }

// Beat sends a heartbeat on every stream of events.
func (s *Server) Beat() { s.change(func() { s.beats++ }) }

func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) log(stage string) *stageLog {
	if s.logs[stage] == nil {
		s.logs[stage] = &stageLog{}
	}
	return s.logs[stage]
}

func event(object proto.Message) *deckv1.Event {
	e := &deckv1.Event{Time: timestamppb.Now()}
	switch x := object.(type) {
	case *deckv1.Environment:
		e.Kind = &deckv1.Event_Environment{Environment: x}
	case *deckv1.Component:
		e.Kind = &deckv1.Event_Component{Component: x}
	case *deckv1.Application:
		e.Kind = &deckv1.Event_Application{Application: x}
	case *deckv1.Deployment:
		e.Kind = &deckv1.Event_Deployment{Deployment: x}
	case *deckv1.Plugin:
		e.Kind = &deckv1.Event_Plugin{Plugin: x}
	case *deckv1.LogBlock:
		e.Kind = &deckv1.Event_Log{Log: x}
	case *deckv1.Piped:
		e.Kind = &deckv1.Event_Piped{Piped: x}
	case *deckv1.Problem:
		e.Kind = &deckv1.Event_Problem{Problem: x}
	case *deckv1.Caption:
		e.Kind = &deckv1.Event_Caption{Caption: x}
	case *deckv1.Connection:
		e.Kind = &deckv1.Event_Connection{Connection: x}
	case *deckv1.Removed:
		e.Kind = &deckv1.Event_Removed{Removed: x}
	case *deckv1.Reset:
		e.Kind = &deckv1.Event_Reset_{Reset_: x}
	case *deckv1.Synced:
		e.Kind = &deckv1.Event_Synced{Synced: x}
	}
	return e
}

// Watch sends what has been published so far, Synced, and then what follows.
func (s *Server) Watch(_ *deckv1.WatchRequest, stream grpc.ServerStreamingServer[deckv1.WatchResponse]) error {
	sent, synced := 0, false
	s.mu.Lock()
	breaking, beats := s.breaking, s.beats
	s.mu.Unlock()
	for {
		s.mu.Lock()
		events := s.history[sent:]
		changed, over, broken := s.changed, s.over, s.breaking != breaking
		beat := s.beats > beats
		beats = s.beats
		s.mu.Unlock()
		if broken {
			return status.Error(codes.Unavailable, "connection lost")
		}
		sent += len(events)
		if !synced {
			events, synced = append(append([]*deckv1.Event(nil), events...), event(&deckv1.Synced{})), true
		}
		if len(events) > 0 || beat {
			if err := stream.Send(&deckv1.WatchResponse{Events: events}); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// WatchStageLog sends the log of a stage by its id, whatever the deployment.
func (s *Server) WatchStageLog(request *deckv1.WatchStageLogRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse]) error {
	sent, answered := 0, false
	s.mu.Lock()
	breaking := s.breaking
	s.mu.Unlock()
	for {
		s.mu.Lock()
		l := s.log(request.GetStageId())
		blocks, complete := l.blocks[sent:], l.complete
		changed, over, broken := s.changed, s.over, s.breaking != breaking
		unreadable := s.unreadable
		s.mu.Unlock()
		if unreadable != nil {
			return unreadable
		}
		if broken {
			return status.Error(codes.Unavailable, "connection lost")
		}
		sent += len(blocks)
		if len(blocks) > 0 || complete || !answered {
			answered = true
			if err := stream.Send(&deckv1.WatchStageLogResponse{Blocks: blocks, Completed: complete,
				Last: true}); err != nil {
				return err
			}
		}
		if complete || over {
			return nil
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// WatchPodLog sends the log of the resource, as Log and LogAt write it, by its id in place of a stage's.
func (s *Server) WatchPodLog(request *deckv1.WatchPodLogRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchStageLogResponse]) error {
	return s.WatchStageLog(&deckv1.WatchStageLogRequest{StageId: request.GetResourceId()}, stream)
}

// Resources reports what lives of an application, as a change of what was published before.
func (s *Server) Resources(application string, response *deckv1.WatchResourcesResponse) {
	s.change(func() { s.resources[application] = append(s.resources[application], response) })
}

// WatchResources sends what Resources has published, and then what follows.
func (s *Server) WatchResources(request *deckv1.WatchResourcesRequest,
	stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse]) error {
	sent := 0
	s.mu.Lock()
	breaking := s.breaking
	s.mu.Unlock()
	for {
		s.mu.Lock()
		responses := s.resources[request.GetApplicationId()][sent:]
		changed, over, broken := s.changed, s.over, s.breaking != breaking
		s.mu.Unlock()
		switch {
		case broken:
			return status.Error(codes.Unavailable, "connection lost")
		case over:
			return nil
		}
		for _, response := range responses {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
		sent += len(responses)
		select {
		case <-changed:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// Hold keeps the answers to actions back until release is called, which may be called twice.
func (s *Server) Hold() (release func()) {
	held := make(chan struct{})
	s.change(func() { s.held = held })
	return sync.OnceFunc(func() { close(held) })
}

func (s *Server) called(ctx context.Context, request proto.Message) error {
	s.mu.Lock()
	refusal, held := s.refusal, s.held
	s.mu.Unlock()
	s.Calls <- request
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	return refusal
}
