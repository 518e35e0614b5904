// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// guard keeps one failing call from ending the process, and ends streams with the server.
type guard struct {
	stopping context.Context
	log      *slog.Logger
}

func (g *guard) unary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (answer any, err error) {
	defer g.recovered(info.FullMethod, &err)
	return handler(ctx, req)
}

func (g *guard) stream(
	srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) (err error) {
	defer g.recovered(info.FullMethod, &err)
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(g.stopping, cancel)()
	err = handler(srv, &stoppable{ServerStream: stream, ctx: ctx})
	if g.stopping.Err() != nil && err != nil {
		return status.Error(codes.Unavailable, "the control plane is stopping")
	}
	return err
}

func (g *guard) recovered(method string, err *error) {
	if r := recover(); r != nil {
		g.log.Error("a call panicked", "method", method, "panic", r, "stack", string(debug.Stack()))
		*err = status.Errorf(codes.Internal, "%s failed; the log of the environment says why", method)
	}
}

type stoppable struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *stoppable) Context() context.Context { return s.ctx }

// validateUnary refuses requests that break the rules in their .proto files.
func validateUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := validate(req); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func validateStream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &validated{stream})
}

type validated struct{ grpc.ServerStream }

func (v *validated) RecvMsg(m any) error {
	if err := v.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return validate(m)
}

func validate(req any) error {
	if v, ok := req.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
		}
	}
	return nil
}

// answered reports when a successful answer to a method has been handed to the transport.
type answered struct {
	method string
	sent   chan<- struct{}
}

type answeredKey struct{}

func (a *answered) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if info.FullMethodName != a.method {
		return ctx
	}
	return context.WithValue(ctx, answeredKey{}, true)
}

func (a *answered) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if end, ok := s.(*stats.End); ok && end.Error == nil && ctx.Value(answeredKey{}) != nil {
		select {
		case a.sent <- struct{}{}:
		default:
		}
	}
}

func (a *answered) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (a *answered) HandleConn(context.Context, stats.ConnStats) {}
