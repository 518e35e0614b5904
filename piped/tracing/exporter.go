// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// exporter hands spans on until the receiver says that it does not know traces. It reports no error to the SDK,
// which would write them to standard error by itself.
type exporter struct {
	next        sdk.SpanExporter
	destination string
	logger      *slog.Logger
	stop        func()

	sent, failed atomic.Int64
	broken       atomic.Bool // the last try failed
	stopped      atomic.Pointer[string]
}

var _ sdk.SpanExporter = (*exporter)(nil)

// ExportSpans is called by one goroutine at a time.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if e.stopped.Load() != nil {
		return nil
	}
	err := e.next.ExportSpans(ctx, spans)
	if err == nil {
		e.sent.Add(int64(len(spans)))
		if e.broken.Swap(false) {
			e.logger.Info("traces arrive again", "receiver", e.destination)
		}
		return nil
	}
	e.failed.Add(int64(len(spans)))
	switch code := status.Code(err); code {
	case codes.Unimplemented:
		e.logger.Info("the receiver does not take traces; none are recorded from now on", "receiver", e.destination)
		e.end(ctx, "not taken by "+e.destination)
	case codes.Unauthenticated, codes.PermissionDenied:
		e.logger.Warn(
			"the receiver refuses traces; none are recorded from now on", "receiver", e.destination, "error", err,
		)
		e.end(ctx, "refused by "+e.destination)
	default:
		if !e.broken.Swap(true) {
			e.logger.Info(
				"traces do not get through and are dropped until they do", "receiver", e.destination, "error", err,
			)
		}
	}
	return nil
}

// end ends the connection, too.
func (e *exporter) end(ctx context.Context, why string) {
	e.stopped.Store(&why)
	e.stop()
	if err := e.next.Shutdown(ctx); err != nil {
		e.logger.Debug("the connection for traces does not end", "error", err)
	}
}

func (e *exporter) state() string {
	switch why := e.stopped.Load(); {
	case why != nil:
		return *why
	case e.broken.Load():
		return "do not get through to " + e.destination
	case e.sent.Load() > 0:
		return fmt.Sprintf("sent to %s", e.destination)
	default:
		return fmt.Sprintf("to be sent to %s", e.destination)
	}
}

// Shutdown ends the connection.
func (e *exporter) Shutdown(ctx context.Context) error { return e.next.Shutdown(ctx) }
