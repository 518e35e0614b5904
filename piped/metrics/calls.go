// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"path"
	"time"

	"google.golang.org/grpc"
)

// Calls times the calls to a plugin, the questions for its health aside.
func (m *Metrics) Calls(plugin string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		began := time.Now()
		err := invoke(ctx, method, request, reply, conn, opts...)
		if !m.options.Off && path.Dir(method) != "/grpc.health.v1.Health" {
			m.calls.WithLabelValues(plugin, path.Base(method), outcome(err)).Observe(time.Since(began).Seconds())
		}
		return err
	}
}

// RepositoryUpdated times a look for a new commit of a repository.
func (m *Metrics) RepositoryUpdated(repository string, took time.Duration, err error) {
	if !m.options.Off {
		m.updates.WithLabelValues(repository, outcome(err)).Observe(took.Seconds())
	}
}

func outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}
