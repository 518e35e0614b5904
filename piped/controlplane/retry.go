// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"path"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// triesUnreachable bounds the tries of a call that did not get through, or whose answer did not: with
	// the pauses above they take about a quarter of a minute, which outlasts a restart.
	triesUnreachable = 12
	// triesFailed bounds the tries of a call that the other side failed at: it may well fail always.
	triesFailed = 4
)

// retrier tries unary calls again.
type retrier struct {
	timeout time.Duration
	clock   Clock
	logger  *slog.Logger
}

func (r *retrier) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	ceiling := firstPause
	for try := 1; ; try++ {
		err := r.once(ctx, method, req, reply, conn, invoke, opts)
		if err == nil || ctx.Err() != nil || try >= tries(ctx, status.Code(err)) {
			return err
		}
		pause := jitter(ceiling)
		r.logger.Debug("call to the control plane failed; it is tried again", "call", path.Base(method), "try", try, "pause", pause, "error", err)
		select {
		case <-r.clock.After(pause):
		case <-ctx.Done():
			return err // says more than the end of ctx
		}
		ceiling = min(2*ceiling, longestPause)
	}
}

func (r *retrier) once(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts []grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	return invoke(ctx, method, req, reply, conn, opts...)
}

// onceKey is the context key of Once.
type onceKey struct{}

// Once is a context whose calls are not tried again when the control plane cannot be reached: the caller
// has something better to do than to wait.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// tries is how often a call is made that ends with the code. Codes that say what is wrong with the request
// or the caller are final.
func tries(ctx context.Context, code codes.Code) int {
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded:
		if ctx.Value(onceKey{}) != nil {
			return 1
		}
		return triesUnreachable
	case codes.Aborted:
		return triesUnreachable
	case codes.ResourceExhausted, codes.Internal, codes.Unknown:
		return triesFailed
	default:
		return 1
	}
}

// jitter draws a pause below the ceiling, so that pipeds do not come back all at once.
func jitter(ceiling time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(ceiling))) + 1
}
