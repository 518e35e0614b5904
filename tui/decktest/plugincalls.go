// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// pluginCallLog is what is scripted about calls of plugins.
type pluginCallLog struct {
	calls []*deckv1.PluginCall
	// followers gets a value from each who waits for more calls.
	followers chan struct{}
}

// PluginCall adds a call between piped and a plugin.
func (s *Server) PluginCall(calls ...*deckv1.PluginCall) {
	s.change(func() {
		for _, call := range calls {
			s.calls = append(s.calls, proto.CloneOf(call))
		}
	})
}

// AwaitFollower returns when someone has got all calls so far and waits for more.
func (s *Server) AwaitFollower(t testing.TB) {
	t.Helper()
	select {
	case <-s.followers:
	case <-t.Context().Done():
	}
}

// pluginCalls serves the calls of a Server.
type pluginCalls struct {
	deckv1.UnimplementedPluginCallServiceServer
	server *Server
}

// ListPluginCalls sends what PluginCall has added. Plugin, stage and id are the filters that it knows.
func (p pluginCalls) ListPluginCalls(r *deckv1.ListPluginCallsRequest,
	stream grpc.ServerStreamingServer[deckv1.ListPluginCallsResponse]) error {
	for sent := 0; ; {
		p.server.mu.Lock()
		calls, changed, over := p.server.calls[sent:], p.server.changed, p.server.over
		p.server.mu.Unlock()
		sent += len(calls)
		for _, call := range calls {
			call = proto.CloneOf(call)
			if !fits(r.GetFilter(), call) {
				continue
			}
			if !r.GetMessages() {
				call.Request, call.Response, call.RequestJson, call.ResponseJson = nil, nil, "", ""
			}
			if err := stream.Send(&deckv1.ListPluginCallsResponse{Calls: []*deckv1.PluginCall{call}}); err != nil {
				return err
			}
		}
		if !r.GetFollow() || over {
			return nil
		}
		select {
		case p.server.followers <- struct{}{}:
			continue
		case <-changed:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

func fits(f *deckv1.PluginCallFilter, c *deckv1.PluginCall) bool {
	return (f.GetPlugin() == "" || f.GetPlugin() == c.GetPlugin()) && (f.GetId() == "" || f.GetId() == c.GetId()) &&
		(f.GetStage() == "" || f.GetStage() == c.GetStageId() || f.GetStage() == c.GetStageName()) &&
		(!f.GetFailed() || c.GetFailed())
}
