// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/grpc"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/spool"
	"github.com/pipedeck/pipedeck/piped/notifier"
	"github.com/pipedeck/pipedeck/piped/observe"
	"github.com/pipedeck/pipedeck/system/clock"
)

// reportInterval is the time between two reports to the control plane (PipeCD v1).
const reportInterval = time.Minute

// Options of a Metrics. The functions are called at each scrape.
type Options struct {
	// PipedID, ProjectID, Version and LauncherVersion are constant labels (PipeCD v1).
	PipedID, ProjectID, Version, LauncherVersion string
	// Off measures nothing; the control plane gets empty reports, which show it that piped is there.
	Off           bool
	Plugins       func() []*agentv1.Plugin
	Notifications func() []notifier.Stats
	// Healthy is what /healthz says, Connected whether there is a connection to the control plane.
	Healthy, Connected func() bool
	// Degraded are the parts that do not work as they should, each once.
	Degraded func() []string
	// Spool is what waits for the control plane.
	Spool func() spool.Stats
	// Spans counts the spans of traces that have arrived, and those that were lost on their way.
	Spans  func() (sent, failed int64)
	Logger *slog.Logger
	// Clock is for the time between reports. Default: the system's.
	Clock clock.Timer
}

// Metrics holds the counters and durations of one piped.
type Metrics struct {
	options     Options
	registry    *prometheus.Registry
	deployments *deployments
	stages      *stages
	events      *prometheus.CounterVec
	ended       *prometheus.HistogramVec
	planned     prometheus.Histogram
	calls       *prometheus.HistogramVec
	updates     *prometheus.HistogramVec
	previews    *planPreviews
}

// New creates a Metrics.
func New(o Options) *Metrics {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	m := &Metrics{
		options: o, registry: prometheus.NewRegistry(), deployments: newDeployments(), stages: newStages(o.Plugins),
		previews: newPlanPreviews(),
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "piped_events_total", Help: "Events that the event watcher has settled, by status.",
		}, []string{"status"}),
		ended: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "piped_deployment_duration_seconds",
			Help: "Time from the creation of a deployment to its end, by status.", Buckets: durations,
		}, []string{"status"}),
	}
	m.planned = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "piped_planning_duration_seconds",
		Help: "Time from the creation of a deployment to its plan, the wait for its turn included.", Buckets: durations,
	})
	m.calls = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "piped_plugin_call_duration_seconds",
		Help: "Time that calls to plugins took; that of a stage is the whole attempt.", Buckets: latencies,
	}, []string{"plugin", "method", "outcome"})
	m.updates = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "piped_git_update_duration_seconds",
		Help:    "Time that looks for a new commit of a repository took, with the fetch if there was one.",
		Buckets: latencies,
	}, []string{"repository", "outcome"})
	labelled := prometheus.WrapRegistererWith(prometheus.Labels{
		"pipecd_component": "piped", "piped": o.PipedID, "piped_version": o.Version,
		"launcher_version": o.LauncherVersion, "project": o.ProjectID,
	}, m.registry)
	labelled.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.deployments, m.stages.durations, m.events, m.ended, m.previews.received, m.previews.handled, m.previews.took,
		m.planned, m.calls, m.updates, &parts{o},
	)
	return m
}

// durations are the buckets for deployments and stages, in seconds: from a tenth to six hours.
var durations = []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 21600}

// latencies are the buckets for calls, in seconds: from two milliseconds to an hour, since a stage is a call.
var latencies = []float64{0.002, 0.01, 0.05, 0.2, 1, 5, 30, 120, 600, 3600}

// Observe counts an event; it is an observe.Listener.
func (m *Metrics) Observe(e observe.Event) {
	if m.options.Off {
		return
	}
	switch e.Type.Group() {
	case observe.Deployments:
		if e.Type == observe.DeploymentTriggerFailed {
			return
		}
		m.deployments.put(e.Deployment)
		switch e.Type {
		case observe.DeploymentTriggered:
			m.deployments.created(e.Deployment.GetId(), e.At)
		case observe.DeploymentPlanned:
			if took, known := m.deployments.planned(e.Deployment.GetId(), e.At); known {
				m.planned.Observe(took.Seconds())
			}
		}
		if completed(e.Deployment.GetStatus()) && e.Took > 0 {
			m.ended.WithLabelValues(statusName(e.Deployment.GetStatus().String())).Observe(e.Took.Seconds())
		}
	case observe.Stages:
		m.stages.observe(e)
	}
}

// EventHandled counts an event of the event watcher.
func (m *Metrics) EventHandled(status model.EventStatus) {
	m.events.WithLabelValues(statusName(status.String())).Inc()
}

// statusName makes DEPLOYMENT_SUCCESS "success".
func statusName(name string) string {
	_, rest, _ := strings.Cut(name, "_")
	return strings.ToLower(rest)
}

// Handler serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	if m.options.Off {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	}
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// ControlPlane is what metrics are reported to.
type ControlPlane interface {
	ReportStat(
		ctx context.Context, request *pipedservice.ReportStatRequest, opts ...grpc.CallOption,
	) (*pipedservice.ReportStatResponse, error)
}

// Run reports to the control plane once a minute until ctx ends. It always returns nil.
func (m *Metrics) Run(ctx context.Context, to ControlPlane) error {
	for {
		if clock.Wait(ctx, m.options.Clock, reportInterval) != nil {
			return nil
		}
		if err := m.report(ctx, to); err != nil && ctx.Err() == nil {
			m.options.Logger.Warn("the control plane did not take the metrics", "error", err)
		}
	}
}

func (m *Metrics) report(ctx context.Context, to ControlPlane) error {
	text, seen, err := m.text()
	if err != nil {
		return err
	}
	if _, err := to.ReportStat(ctx, &pipedservice.ReportStatRequest{PipedStats: text}); err != nil {
		return err
	}
	m.deployments.forget(seen)
	return nil
}

// text is everything in the text format, with the ended deployments that are in it.
func (m *Metrics) text() (text []byte, ended []string, err error) {
	if m.options.Off {
		return nil, nil, nil
	}
	ended = m.deployments.ended()
	families, err := m.registry.Gather()
	if err != nil {
		return nil, nil, fmt.Errorf("gather the metrics: %w", err)
	}
	var out bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&out, family); err != nil {
			return nil, nil, fmt.Errorf("write the metrics: %w", err)
		}
	}
	return out.Bytes(), ended, nil
}
