// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"log/slog"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// triesPassing bounds the tries of a call that did not get through, or whose answer did not: with the pauses
	// above they outlast a restart of the control plane.
	triesPassing = 12
	// triesFailing bounds the tries of a call that the control plane failed at: it may well fail always.
	triesFailing = 4
)

// retrier tries unary calls again.
type retrier struct {
	timeout time.Duration
	clock   clock.Timer
	logger  *slog.Logger
}

func (r *retrier) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	backoff := clock.NewBackoff(firstPause, longestPause)
	for try := 1; ; try++ {
		err := r.once(ctx, method, req, reply, conn, invoke, opts)
		if err == nil || ctx.Err() != nil || try >= tries(ctx, err) {
			return err
		}
		pause := backoff.Next()
		r.logger.Debug("call to the control plane failed; it is tried again", "call", path.Base(method), "try", try,
			"pause", pause, "error", err)
		if clock.Wait(ctx, r.clock, pause) != nil {
			return err // says more than the end of ctx
		}
	}
}

func (r *retrier) once(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts []grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return invoke(ctx, method, req, reply, conn, opts...)
}

// onceKey is the context key of Once.
type onceKey struct{}

// Once returns a context whose calls are not tried again when the control plane cannot be reached, for callers that do
// not wait for it.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// IsOnce reports whether a context is one of Once.
func IsOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }

// tries is how often a call is made that ends with the error.
func tries(ctx context.Context, err error) int {
	switch {
	case status.Code(err) == codes.Canceled: // also the answer of a Client that was closed
		return 1
	case Passing(err) && IsOnce(ctx):
		return 1
	case Passing(err):
		return triesPassing
	case Refused(err):
		return 1
	default:
		return triesFailing
	}
}
