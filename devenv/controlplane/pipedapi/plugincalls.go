// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// PluginCalls serves the PluginCallService of pipeds.
type PluginCalls struct {
	agentv1.UnimplementedPluginCallServiceServer
	calls *store.PluginCalls
}

var _ agentv1.PluginCallServiceServer = (*PluginCalls)(nil)

// NewPluginCalls returns the service on the questions of users.
func NewPluginCalls(calls *store.PluginCalls) *PluginCalls { return &PluginCalls{calls: calls} }

// AnswerPluginCalls passes an answer on to the user who asked.
func (p *PluginCalls) AnswerPluginCalls(
	stream grpc.ClientStreamingServer[agentv1.AnswerPluginCallsRequest, agentv1.AnswerPluginCallsResponse],
) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	question := p.calls.Question(first.GetQuestion(), auth.Piped(stream.Context()))
	if question == nil {
		return status.Error(codes.NotFound, "no one waits for the answer any longer")
	}
	defer question.Finish()
	for answer := first; ; {
		if !question.Give(stream.Context(), answer.GetCalls()) {
			return stream.SendAndClose(&agentv1.AnswerPluginCallsResponse{})
		}
		next, ended := make(chan *agentv1.AnswerPluginCallsRequest, 1), make(chan error, 1)
		go func() { // ends with the stream, which ends with this method
			message, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			next <- message
		}()
		select {
		case answer = <-next:
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return stream.SendAndClose(&agentv1.AnswerPluginCallsResponse{})
			}
			return err
		case <-question.Closed(): // a follower has left
			return stream.SendAndClose(&agentv1.AnswerPluginCallsResponse{})
		}
	}
}
