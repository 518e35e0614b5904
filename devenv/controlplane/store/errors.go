// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error says why the store refused a call. gRPC answers it with Code and Message.
type Error struct {
	Code    codes.Code
	Message string
}

// Error returns the message alone.
func (e *Error) Error() string { return e.Message }

// GRPCStatus lets gRPC find the code.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.Message) }

func notFound(format string, args ...any) *Error {
	return &Error{codes.NotFound, fmt.Sprintf(format, args...)}
}

func denied(format string, args ...any) *Error {
	return &Error{codes.PermissionDenied, fmt.Sprintf(format, args...)}
}

func precondition(format string, args ...any) *Error {
	return &Error{codes.FailedPrecondition, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) *Error {
	return &Error{codes.InvalidArgument, fmt.Sprintf(format, args...)}
}

func exhausted(format string, args ...any) *Error {
	return &Error{codes.ResourceExhausted, fmt.Sprintf(format, args...)}
}

func alreadyExists(format string, args ...any) *Error {
	return &Error{codes.AlreadyExists, fmt.Sprintf(format, args...)}
}
