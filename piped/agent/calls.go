// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"google.golang.org/grpc"
)

// calls traces the calls to a process of a plugin, times them and remembers them.
func (a *Agent) calls(plugin, build string) grpc.UnaryClientInterceptor {
	trace, time, record := a.upstream.tracer.Calls(plugin), a.observed.metrics.Calls(plugin),
		a.pluginCalls.Client(plugin, build)
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		timed := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			opts ...grpc.CallOption) error {
			return time(ctx, method, request, reply, conn, invoke, opts...)
		}
		traced := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			opts ...grpc.CallOption) error {
			return trace(ctx, method, request, reply, conn, timed, opts...)
		}
		return record(ctx, method, request, reply, conn, traced, opts...)
	}
}
