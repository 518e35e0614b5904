// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// parts reads what other parts of piped know, at each scrape.
type parts struct{ Options }

var _ prometheus.Collector = (*parts)(nil)

var (
	healthyDesc = prometheus.NewDesc("piped_healthy", "1 when /healthz says ok.", nil, nil)
	pluginDesc  = prometheus.NewDesc(
		"piped_plugin_state", "1 for the present state of a plugin.", []string{"plugin", "state"}, nil,
	)
	restartsDesc = prometheus.NewDesc(
		"piped_plugin_restarts_total", "Starts of a plugin after the first one.", []string{"plugin"}, nil,
	)
	memoryDesc = prometheus.NewDesc(
		"piped_plugin_memory_bytes", "Resident memory of a plugin.", []string{"plugin"}, nil,
	)
	cpuDesc = prometheus.NewDesc(
		"piped_plugin_cpu_cores", "CPU that a plugin uses, in cores.", []string{"plugin"}, nil,
	)
	queuedDesc = prometheus.NewDesc(
		"piped_notifications_queued", "Notifications that wait for a receiver.", []string{"receiver"}, nil,
	)
	notifiedDesc = prometheus.NewDesc(
		"piped_notifications_total", "Notifications to a receiver by outcome; dropped ones found the queue full.",
		[]string{"receiver", "outcome"}, nil,
	)
	upDesc        = prometheus.NewDesc("piped_plugin_up", "1 when a plugin answers calls.", []string{"plugin"}, nil)
	connectedDesc = prometheus.NewDesc(
		"piped_control_plane_connected", "1 when there is a connection to the control plane.", nil, nil,
	)
	waitingDesc = prometheus.NewDesc("piped_spool_reports", "Reports that wait for the control plane.", nil, nil)
	bytesDesc   = prometheus.NewDesc(
		"piped_spool_bytes", "Size of the reports that wait for the control plane.", nil, nil,
	)
	oldestDesc = prometheus.NewDesc(
		"piped_spool_oldest_age_seconds",
		"Time that the oldest report has waited for the control plane; 0 when none does.", nil, nil,
	)
	lostDesc = prometheus.NewDesc(
		"piped_spool_dropped_reports_total", "Kept reports that never arrived, by reason.", []string{"reason"}, nil,
	)
	spansDesc = prometheus.NewDesc(
		"piped_trace_spans_total", "Spans of traces that were sent, by outcome.", []string{"outcome"}, nil,
	)
	degradedDesc = prometheus.NewDesc(
		"piped_degraded", "1 for each part that does not work as it should.", []string{"part"}, nil,
	)
	partsDescribed = []*prometheus.Desc{
		healthyDesc,
		pluginDesc,
		restartsDesc,
		memoryDesc,
		cpuDesc,
		queuedDesc,
		notifiedDesc,
		upDesc,
		connectedDesc,
		waitingDesc,
		bytesDesc,
		oldestDesc,
		lostDesc,
		spansDesc,
		degradedDesc,
	}
)

// Describe implements prometheus.Collector.
func (p *parts) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range partsDescribed {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (p *parts) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	send(healthyDesc, prometheus.GaugeValue, number(p.Healthy()))
	send(connectedDesc, prometheus.GaugeValue, number(p.Connected()))
	sent, failed := p.Spans()
	send(spansDesc, prometheus.CounterValue, float64(sent), "sent")
	send(spansDesc, prometheus.CounterValue, float64(failed), "failed")
	p.spool(send)
	for _, part := range p.Degraded() {
		send(degradedDesc, prometheus.GaugeValue, 1, part)
	}
	for _, plugin := range p.Plugins() {
		name := plugin.GetName()
		state := strings.ToLower(strings.TrimPrefix(plugin.GetState().String(), "STATE_"))
		send(pluginDesc, prometheus.GaugeValue, 1, name, state)
		send(upDesc, prometheus.GaugeValue, number(plugin.GetState() == agentv1.Plugin_STATE_RUNNING), name)
		send(restartsDesc, prometheus.CounterValue, float64(plugin.GetRestarts()), name)
		send(memoryDesc, prometheus.GaugeValue, float64(plugin.GetRssBytes()), name)
		send(cpuDesc, prometheus.GaugeValue, plugin.GetCpuPercent()/100, name)
	}
	for _, s := range p.Notifications() {
		send(queuedDesc, prometheus.GaugeValue, float64(s.Queued), s.Receiver)
		send(notifiedDesc, prometheus.CounterValue, float64(s.Sent), s.Receiver, "sent")
		send(notifiedDesc, prometheus.CounterValue, float64(s.Failed), s.Receiver, "failed")
		send(notifiedDesc, prometheus.CounterValue, float64(s.Dropped), s.Receiver, "dropped")
	}
}

func (p *parts) spool(send func(*prometheus.Desc, prometheus.ValueType, float64, ...string)) {
	s := p.Spool()
	send(waitingDesc, prometheus.GaugeValue, float64(s.Reports))
	send(bytesDesc, prometheus.GaugeValue, float64(s.Bytes))
	age := 0.0
	if !s.Oldest.IsZero() {
		age = max(0, time.Since(s.Oldest).Seconds())
	}
	send(oldestDesc, prometheus.GaugeValue, age)
	send(lostDesc, prometheus.CounterValue, float64(s.Dropped.NoRoom), "no_room")
	send(lostDesc, prometheus.CounterValue, float64(s.Dropped.Refused), "refused")
	send(lostDesc, prometheus.CounterValue, float64(s.Dropped.Unreadable), "unreadable")
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
