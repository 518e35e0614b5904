// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"path"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// Calls records the calls to a plugin that belong to a trace, and passes the trace to the plugin.
func (t *Tracer) Calls(plugin string) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
		opts ...grpc.CallOption) error {
		parent := trace.SpanFromContext(ctx)
		if !t.enabled() || !parent.IsRecording() {
			return invoke(ctx, method, request, reply, conn, opts...)
		}
		name := attribute.String("plugin", plugin)
		parent.SetAttributes(name)
		ctx, span := t.tracer.Start(ctx, path.Base(method), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(
				name, attribute.String("rpc.system", "grpc"), attribute.String("rpc.method", path.Base(method)),
			))
		defer span.End()
		ctx = propagate(ctx)
		err := invoke(ctx, method, request, reply, conn, opts...)
		span.SetAttributes(attribute.Int("rpc.grpc.status_code", int(status.Code(err))))
		if err != nil {
			span.SetStatus(codes.Error, t.mask(status.Convert(err).Message()))
		}
		return err
	}
}

// propagate puts the trace into the metadata of a call, as W3C Trace Context.
func propagate(ctx context.Context) context.Context {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	for key, value := range carrier {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	return ctx
}

// Reports is the layer of calls to the control plane that records the span Trigger when a deployment, or the first one
// of a chain, is created.
func (t *Tracer) Reports(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption,
) error {
	var created *model.Deployment
	switch r := request.(type) {
	case *pipedservice.CreateDeploymentRequest:
		created = r.GetDeployment()
	case *pipedservice.CreateDeploymentChainRequest:
		created = r.GetFirstDeployment()
	default:
		return invoke(ctx, method, request, reply, conn, opts...)
	}
	ctx, end := t.trigger(ctx, created)
	err := invoke(ctx, method, request, reply, conn, opts...)
	end(err)
	return err
}

func (t *Tracer) trigger(ctx context.Context, d *model.Deployment) (context.Context, func(error)) {
	if !t.enabled() {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(inTrace(ctx, d.GetId()), "Trigger", trace.WithAttributes(append(of(d),
		attribute.String(
			"reason", t.mask(d.GetTrigger().GetStrategySummary()),
		), attribute.String("commander", d.GetTrigger().GetCommander()))...))
	return ctx, func(err error) { t.end(ctx, span, err) }
}
