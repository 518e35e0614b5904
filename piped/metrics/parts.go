// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// parts reads what other parts of piped know, at each scrape.
type parts struct{ Options }

var _ prometheus.Collector = (*parts)(nil)

var (
	healthyDesc    = prometheus.NewDesc("piped_healthy", "1 when /healthz says ok.", nil, nil)
	pluginDesc     = prometheus.NewDesc("piped_plugin_state", "1 for the present state of a plugin.", []string{"plugin", "state"}, nil)
	restartsDesc   = prometheus.NewDesc("piped_plugin_restarts_total", "Starts of a plugin after the first one.", []string{"plugin"}, nil)
	memoryDesc     = prometheus.NewDesc("piped_plugin_memory_bytes", "Resident memory of a plugin.", []string{"plugin"}, nil)
	cpuDesc        = prometheus.NewDesc("piped_plugin_cpu_cores", "CPU that a plugin uses, in cores.", []string{"plugin"}, nil)
	queuedDesc     = prometheus.NewDesc("piped_notifications_queued", "Notifications that wait for a receiver.", []string{"receiver"}, nil)
	notifiedDesc   = prometheus.NewDesc("piped_notifications_total", "Notifications to a receiver by outcome; dropped ones found the queue full.", []string{"receiver", "outcome"}, nil)
	partsDescribed = []*prometheus.Desc{healthyDesc, pluginDesc, restartsDesc, memoryDesc, cpuDesc, queuedDesc, notifiedDesc}
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
	healthy := 0.0
	if p.Healthy() {
		healthy = 1
	}
	send(healthyDesc, prometheus.GaugeValue, healthy)
	for _, plugin := range p.Plugins() {
		name := plugin.GetName()
		state := strings.ToLower(strings.TrimPrefix(plugin.GetState().String(), "STATE_"))
		send(pluginDesc, prometheus.GaugeValue, 1, name, state)
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
