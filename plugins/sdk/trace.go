// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// joinTrace gives the context of a request the trace of the deployment, where piped sends it: spans that the plugin
// makes with OpenTelemetry become parts of it, and so do calls of libraries that know OpenTelemetry. Without a tracer
// provider, which is the author's to set up, nothing is recorded and nothing is sent.
func joinTrace(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	given, ok := metadata.FromIncomingContext(ctx)
	if ok {
		ctx = propagation.TraceContext{}.Extract(ctx, carrier(given))
	}
	return next(ctx, req)
}

// carrier reads gRPC metadata as a header.
type carrier metadata.MD

func (c carrier) Get(key string) string {
	if values := metadata.MD(c).Get(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

func (c carrier) Set(key, value string) { metadata.MD(c).Set(key, value) }

func (c carrier) Keys() (keys []string) {
	for key := range c {
		keys = append(keys, key)
	}
	return keys
}
