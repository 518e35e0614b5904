// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"google.golang.org/grpc/metadata"
)

// traceHeaders are those of W3C Trace Context.
var traceHeaders = []string{"traceparent", "tracestate"}

// TraceHeaders returns the headers of W3C Trace Context (traceparent, tracestate) that piped sent with the request,
// where it traces deployments; else none. ctx is that of the request. With OpenTelemetry, spans of the plugin become
// parts of the deployment's trace by
//
//	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier(sdk.TraceHeaders(ctx)))
func TraceHeaders(ctx context.Context) map[string]string {
	headers := map[string]string{}
	given, _ := metadata.FromIncomingContext(ctx)
	for _, name := range traceHeaders {
		if values := given.Get(name); len(values) > 0 {
			headers[name] = values[0]
		}
	}
	return headers
}
