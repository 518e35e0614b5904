// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/piped/controlplane"
	"github.com/pipedeck/pipedeck/piped/tracing"
)

// trace makes the part that records traces.
func (a *Agent) trace(key string) error {
	c := a.options.Config
	transport, err := controlplane.Transport(a.options.Insecure, a.options.CertFile)
	if err != nil {
		return fmt.Errorf("connect to the control plane at %q: %w", c.APIAddress, err)
	}
	a.tracer, err = tracing.New(tracing.Options{
		Address: c.APIAddress, Transport: transport,
		Token:     strings.Join([]string{c.ProjectID, c.PipedID, strings.TrimSpace(key)}, ","),
		ProjectID: c.ProjectID, PipedID: c.PipedID, Version: a.options.Version, Mask: a.masker.Mask, Logger: a.logger,
	})
	return err
}

// calls times the calls to a plugin and records them.
func (a *Agent) calls(plugin string) grpc.UnaryClientInterceptor {
	record, time := a.tracer.Calls(plugin), a.metrics.Calls(plugin)
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		timed := func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn,
			opts ...grpc.CallOption) error {
			return time(ctx, method, request, reply, conn, invoke, opts...)
		}
		return record(ctx, method, request, reply, conn, timed, opts...)
	}
}
