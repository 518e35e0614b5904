// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"

	"google.golang.org/grpc"
)

// calls times the calls to a plugin and records them.
func (a *Agent) calls(plugin string) grpc.UnaryClientInterceptor {
	record, time := a.upstream.tracer.Calls(plugin), a.observed.metrics.Calls(plugin)
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		timed := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			opts ...grpc.CallOption) error {
			return time(ctx, method, request, reply, conn, invoke, opts...)
		}
		return record(ctx, method, request, reply, conn, timed, opts...)
	}
}
