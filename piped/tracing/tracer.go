// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/credentials"

	"github.com/pipedeck/pipedeck/piped/clip"
)

// flushTimeout bounds what Close waits for the last spans to arrive.
const flushTimeout = 2 * time.Second

// Options of a Tracer.
type Options struct {
	// Address is the control plane, host:port, which gets the spans unless the environment says otherwise.
	Address string
	// Transport and Token are for the control plane only. Token is "project,piped,key" (PipeCD v1).
	Transport credentials.TransportCredentials
	Token     string
	// ProjectID, PipedID and Version are in every span.
	ProjectID, PipedID, Version string
	// Mask hides secrets in a text; nil hides none.
	Mask   func(string) string
	Logger *slog.Logger
	// Getenv reads the environment. Default: that of the process. OpenTelemetry's own library reads the process'.
	Getenv func(string) string
}

// Tracer records spans. A nil one records nothing.
type Tracer struct {
	options  Options
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
	off      atomic.Bool
}

// New creates a Tracer; it is nil when OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER say that there shall be none.
// Nothing is connected before there is a span. The caller closes the Tracer.
func New(o Options) (*Tracer, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if strings.EqualFold(o.Getenv("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(
		o.Getenv("OTEL_TRACES_EXPORTER"), "none",
	) {
		return nil, nil
	}
	t := &Tracer{options: o}
	destination, clientOptions := t.destination()
	client, err := otlptracegrpc.New(context.Background(), clientOptions...) // connects with the first span
	if err != nil {
		return nil, fmt.Errorf("send traces to %s: %w; see the variables OTEL_EXPORTER_OTLP_*", destination, err)
	}
	t.exporter = &exporter{next: client, destination: destination, logger: o.Logger, stop: func() { t.off.Store(true) }}
	attributes, err := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", "piped"), attribute.String("service.version", o.Version),
		attribute.String("service.namespace", o.ProjectID), attribute.String("service.instance.id", o.PipedID),
		attribute.String("project-id", o.ProjectID), attribute.String("piped-id", o.PipedID),
	))
	if err != nil {
		return nil, fmt.Errorf("describe piped in traces: %w; see OTEL_RESOURCE_ATTRIBUTES", err)
	}
	// The queue is bounded (2,048 spans unless OTEL_BSP_MAX_QUEUE_SIZE says otherwise), and spans beyond it are
	// dropped.
	t.provider = sdk.NewTracerProvider(sdk.WithResource(attributes), sdk.WithBatcher(t.exporter))
	t.tracer = t.provider.Tracer("github.com/pipedeck/pipedeck/piped")
	return t, nil
}

// destination is where spans go, for people, and how. The key is never sent to another receiver than the control
// plane.
func (t *Tracer) destination() (string, []otlptracegrpc.Option) {
	o := t.options
	if other := cmp.Or(
		o.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), o.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
	); other != "" {
		protocol := cmp.Or(
			o.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), o.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc",
		)
		if protocol != "grpc" {
			o.Logger.Warn(
				"traces are sent by gRPC only; the protocol of the environment does not count", "protocol", protocol,
			)
		}
		return other, nil
	}
	options := []otlptracegrpc.Option{
		otlptracegrpc.WithEndpoint(o.Address),
		otlptracegrpc.WithHeaders(map[string]string{"authorization": "Bearer " + o.Token}),
		otlptracegrpc.WithTLSCredentials(o.Transport),
	}
	return "the control plane at " + o.Address, options
}

// Exported counts the spans that were taken, and those that were not.
func (t *Tracer) Exported() (sent, failed int64) {
	if t == nil {
		return 0, 0
	}
	return t.exporter.sent.Load(), t.exporter.failed.Load()
}

// State is a word on where spans go, for people.
func (t *Tracer) State() string {
	if t == nil {
		return "off"
	}
	return t.exporter.state()
}

// Close sends what is queued, for a short time.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// enabled reports whether spans are recorded.
func (t *Tracer) enabled() bool { return t != nil && !t.off.Load() }

func (t *Tracer) mask(text string) string {
	if t.options.Mask != nil {
		text = t.options.Mask(text)
	}
	if len(text) > maxText {
		text = clip.Bytes(text, maxText) + "…"
	}
	return text
}
