// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestEveryUnaryMethodIsServed(t *testing.T) {
	t.Parallel()
	eachMethod(t, start(t), func(name string, err error) {
		require.NotContains(t, []codes.Code{codes.Unimplemented, codes.Unknown, codes.Internal}, status.Code(err),
			"%s: %v", name, err)
	})
}

// eachMethod calls each unary method with an empty message.
func eachMethod(t *testing.T, p *plane, result func(name string, err error)) {
	t.Helper()
	for _, s := range []struct {
		service protoreflect.ServiceDescriptor
		conn    *grpc.ClientConn
	}{
		{pipedservice.File_api_controlplane_pipedservice_service_proto.Services().Get(0), p.pipedConn},
		{apiservice.File_api_controlplane_apiservice_service_proto.Services().Get(0), p.userConn},
		{agentv1.File_api_agent_v1_agent_proto.Services().ByName("AgentService"), p.pipedConn},
		{deckv1.File_api_deck_v1_deck_proto.Services().Get(0), p.userConn},
	} {
		for i := range s.service.Methods().Len() {
			m := s.service.Methods().Get(i)
			if m.IsStreamingServer() {
				continue
			}
			name := "/" + string(s.service.FullName()) + "/" + string(m.Name())
			result(name, s.conn.Invoke(testContext(t), name, message(t, m.Input()), message(t, m.Output())))
		}
	}
}
