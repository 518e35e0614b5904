// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"log/slog"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

// validate refuses requests that break the protocol's rules.
func validate(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := checkRequest(req); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "invalid request: %v", err)
	}
	return next(ctx, req)
}

// checkRequest runs the generated rules. DetermineStrategy is let through with a deployment that is not
// whole: PipeCD v1's plan preview only fills in the application.
func checkRequest(req any) error {
	if strategy, ok := req.(*deployment.DetermineStrategyRequest); ok && strategy.GetInput().GetDeployment() != nil {
		return nil
	}
	if v, ok := req.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// recoverPanics keeps the process alive when a handler panics.
func recoverPanics(logger *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any,
		err error) {
		defer func() {
			if p := recover(); p != nil {
				what, stack, _ := strings.Cut(panicked(p).Error(), "\n")
				logger.Error("request panicked", "method", info.FullMethod, "panic", what, "stack", stack)
				err = status.Error(codes.Internal, panicText(p))
			}
		}()
		return next(ctx, req)
	}
}

// endStreams ends streams (health watches) when the process has to stop, so that it need not wait for
// the other side to end them.
func endStreams(stopping context.Context) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		defer context.AfterFunc(stopping, cancel)()
		return next(srv, streamWithContext{stream, ctx})
	}
}

type streamWithContext struct {
	grpc.ServerStream
	ctx context.Context
}

func (s streamWithContext) Context() context.Context { return s.ctx }
