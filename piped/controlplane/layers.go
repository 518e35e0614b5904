// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"slices"

	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
)

// Layers are what the agent adds to the calls of a Client; nil for none. Each layer sees the calls of both services and
// passes on those that do not concern it. The list in order says which layer comes first.
type Layers struct {
	// LiveState learns which applications are being deployed.
	LiveState grpc.UnaryClientInterceptor
	// Secrets masks secrets in requests.
	Secrets grpc.UnaryClientInterceptor
	// Trace records spans.
	Trace grpc.UnaryClientInterceptor
	// Observe turns reports that were taken into events.
	Observe grpc.UnaryClientInterceptor
	// Spool keeps reports while the control plane is away. What it delivers later passes only the layers after it.
	Spool grpc.UnaryClientInterceptor
	// Faults has each try of a call fail or wait that a user wants to.
	Faults grpc.UnaryClientInterceptor
}

// layer is one step on the way of a call.
type layer struct {
	name string
	call grpc.UnaryClientInterceptor
}

const spooled = "spooled"

// order is every layer that a unary call passes, outermost first. No layer is added anywhere else.
func order(given Layers, retries *retrier) []layer {
	return []layer{
		{"live state seen", given.LiveState},
		{"secrets masked", given.Secrets},
		{"traced", given.Trace},
		{"observed", given.Observe},
		{spooled, given.Spool},
		{"lists paged", pageLists},
		{"logs split", splitLogs},
		{"retried", retries.unary},
		{"faulty", given.Faults},
	}
}

// after returns the layers that come after the named one.
func after(layers []layer, name string) []layer {
	at := slices.IndexFunc(layers, func(l layer) bool { return l.name == name })
	return layers[at+1:]
}

// connection is a connection whose unary calls pass layers before they go on the wire.
type connection struct {
	*grpc.ClientConn
	layers grpc.UnaryInvoker
}

var _ grpc.ClientConnInterface = (*connection)(nil)

// through returns conn with the layers in front of it, the first one outermost.
func through(conn *grpc.ClientConn, layers []layer) *connection {
	next := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
		opts ...grpc.CallOption) error {
		return conn.Invoke(ctx, method, request, reply, opts...)
	}
	for _, l := range slices.Backward(layers) {
		if l.call == nil {
			continue
		}
		inner := next
		next = func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			opts ...grpc.CallOption) error {
			return l.call(ctx, method, request, reply, conn, inner, opts...)
		}
	}
	return &connection{ClientConn: conn, layers: next}
}

// Invoke makes a unary call.
func (c *connection) Invoke(ctx context.Context, method string, request, reply any, opts ...grpc.CallOption) error {
	return c.layers(ctx, method, request, reply, c.ClientConn, opts...)
}

// Clients embed the generated clients by these names, which other packages cannot reach: no one can put another client
// in their place.
type (
	pipedServiceClient = pipedservice.PipedServiceClient
	agentServiceClient = agentv1.AgentServiceClient
	pluginCallClient   = agentv1.PluginCallServiceClient
	stageRerunClient   = agentv1.StageRerunServiceClient
)
