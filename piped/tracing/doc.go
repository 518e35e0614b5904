// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package tracing records in OpenTelemetry traces what becomes of deployments and how long each part takes.
//
// A deployment is one trace, whose id follows from the deployment's: spans Trigger, Plan, Deploy and one for each
// attempt at a stage (PipeCD v1 has the same, but for Trigger), below them the sources that were prepared and the
// calls to plugins. Plugins get the context of the trace with each call, as the metadata "traceparent".
//
// Spans go by OTLP to the control plane, with piped's own credentials, or to where the variables
// OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_TRACES_ENDPOINT say, without them. Nothing waits for that:
// spans are queued, and dropped when the queue is full or no one takes them. A receiver that does not know traces
// is not asked again, and from then on nothing is recorded. A nil Tracer records nothing at all.
package tracing
