// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"hash/fnv"
	"sort"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxText bounds a text in a span in bytes.
const maxText = 2048

// Plan begins the span of a deployment's planning. The function ends it; a nil plan goes with an error.
func (t *Tracer) Plan(
	ctx context.Context, d *model.Deployment,
) (context.Context, func(planned *model.Deployment, err error)) {
	if !t.enabled() {
		return ctx, func(*model.Deployment, error) {}
	}
	ctx, span := t.tracer.Start(inTrace(ctx, d.GetId()), "Plan", trace.WithAttributes(of(d)...))
	return ctx, func(planned *model.Deployment, err error) {
		if err == nil {
			span.SetAttributes(
				attribute.String("strategy", planned.GetTrigger().GetSyncStrategy().String()),
				attribute.Int("stages", len(planned.GetStages())),
			)
		}
		t.end(ctx, span, err)
	}
}

// Deploy begins the span of a planned deployment's stages. The function ends it; err says that the deployment has
// not come to its end.
func (t *Tracer) Deploy(
	ctx context.Context, d *model.Deployment,
) (context.Context, func(status model.DeploymentStatus, reason string, err error)) {
	if !t.enabled() {
		return ctx, func(model.DeploymentStatus, string, error) {}
	}
	ctx, span := t.tracer.Start(inTrace(ctx, d.GetId()), "Deploy", trace.WithAttributes(of(d)...))
	return ctx, func(status model.DeploymentStatus, reason string, err error) {
		if err != nil {
			t.end(ctx, span, err)
			return
		}
		span.SetAttributes(attribute.String("status", status.String()))
		t.settle(span, status == model.DeploymentStatus_DEPLOYMENT_SUCCESS, reason)
		span.End()
	}
}

// Stage begins the span of a stage, which both contexts get. The function ends it with how the stage stands then.
func (t *Tracer) Stage(
	ctx, work context.Context, d *model.Deployment, stage *model.PipelineStage,
) (_, _ context.Context, end func(status model.StageStatus, reason string, attempt int32)) {
	if !t.enabled() {
		return ctx, work, func(model.StageStatus, string, int32) {}
	}
	ctx, span := t.tracer.Start(inTrace(ctx, d.GetId()), stage.GetName(), trace.WithAttributes(append(of(d),
		attribute.String("stage-id", stage.GetId()), attribute.Bool("rollback", stage.GetRollback()))...))
	return ctx, trace.ContextWithSpan(work, span), func(status model.StageStatus, reason string, attempt int32) {
		span.SetAttributes(attribute.String("status", status.String()), attribute.Int("attempts", int(attempt)+1))
		switch status {
		case model.StageStatus_STAGE_FAILURE, model.StageStatus_STAGE_CANCELLED:
			t.settle(span, false, reason)
		case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_EXITED, model.StageStatus_STAGE_SKIPPED:
			t.settle(span, true, reason)
		}
		span.End()
	}
}

// Part begins the span of a part of what ctx is about. Outside of a trace there is none.
func (t *Tracer) Part(
	ctx context.Context, name string, attributes ...attribute.KeyValue,
) (context.Context, func(error)) {
	if !t.enabled() || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) { t.end(ctx, span, err) }
}

// PluginStarted records the start of a plugin's process, a separate trace.
func (t *Tracer) PluginStarted(plugin string, began time.Time, err error) {
	if !t.enabled() {
		return
	}
	ctx, span := t.tracer.Start(
		context.Background(), "Start plugin", trace.WithTimestamp(began),
		trace.WithAttributes(attribute.String("plugin", plugin)),
	)
	t.end(ctx, span, err)
}

// end ends a span with an error or without. An error after the end of ctx says that piped stops, or that a part
// is no longer wanted: that is no fault.
func (t *Tracer) end(ctx context.Context, span trace.Span, err error) {
	switch {
	case err != nil && ctx.Err() != nil:
		span.SetAttributes(attribute.Bool("interrupted", true), attribute.String("reason", t.mask(err.Error())))
	default:
		t.settle(span, err == nil, text(err))
	}
	span.End()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (t *Tracer) settle(span trace.Span, ok bool, reason string) {
	reason = t.mask(reason)
	if ok {
		span.SetStatus(codes.Ok, "")
		if reason != "" {
			span.SetAttributes(attribute.String("reason", reason))
		}
		return
	}
	span.AddEvent("exception", trace.WithAttributes(attribute.String("exception.message", reason)))
	span.SetStatus(codes.Error, reason)
}

// of are the attributes of a deployment. The first three are PipeCD v1's.
func of(d *model.Deployment) []attribute.KeyValue {
	var labels []string
	for key, value := range d.GetLabels() {
		labels = append(labels, key+"="+value)
	}
	sort.Strings(labels)
	return []attribute.KeyValue{
		attribute.String("application-id", d.GetApplicationId()), attribute.String("deployment-id", d.GetId()),
		attribute.String("labels", strings.Join(labels, ",")),
		attribute.String("application-name", d.GetApplicationName()),
		attribute.String("commit", d.GetTrigger().GetCommit().GetHash()),
	}
}

// inTrace puts ctx into the trace of a deployment, unless it is in it already.
func inTrace(ctx context.Context, deployment string) context.Context {
	id := traceID(deployment)
	if trace.SpanContextFromContext(ctx).TraceID() == id {
		return ctx
	}
	return trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id}))
}

// traceID is PipeCD v1's: whoever knows the deployment finds its trace.
func traceID(deployment string) (id trace.TraceID) {
	hash := fnv.New128a()
	_, _ = hash.Write([]byte(deployment))
	copy(id[:], hash.Sum(nil))
	return id
}
