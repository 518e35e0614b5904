// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pipedeck/pipedeck/api/model"
)

// planPreviews counts plan preview commands. PipeCD v1: the names and labels, which it defines and does not serve.
type planPreviews struct {
	received prometheus.Counter
	handled  *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

func newPlanPreviews() *planPreviews {
	return &planPreviews{
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "plan_preview_command_received_total", Help: "Plan preview commands that piped has received.",
		}),
		handled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "plan_preview_command_handled_total",
			Help: "Plan preview commands that piped has handled, by status.",
		}, []string{"status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "plan_preview_command_handling_seconds", Help: "Time that plan preview commands took, by status.",
			Buckets: durations,
		}, []string{"status"}),
	}
}

// PlanPreviewReceived counts a command.
func (m *Metrics) PlanPreviewReceived() { m.previews.received.Inc() }

// PlanPreviewHandled counts the end of a command; the status of one that was given up is COMMAND_TIMEOUT.
func (m *Metrics) PlanPreviewHandled(status model.CommandStatus, took time.Duration) {
	m.previews.handled.WithLabelValues(status.String()).Inc()
	m.previews.took.WithLabelValues(status.String()).Observe(took.Seconds())
}
