// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// callError is an error of a call to piped with the words of piped alone: plugins write errors to stage logs, where
// users read them. It holds the gRPC status.
type callError struct{ err error }

func (e *callError) Error() string { return status.Convert(e.err).Message() }

func (e *callError) Unwrap() error { return e.err }

// GRPCStatus lets status.FromError and status.Code work as with the error of gRPC.
func (e *callError) GRPCStatus() *status.Status { return status.Convert(e.err) }

func plainErrors(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn,
	call grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if err := call(ctx, method, request, answer, conn, options...); err != nil {
		return &callError{err}
	}
	return nil
}
