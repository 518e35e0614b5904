// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

var (
	healthyDesc  = prometheus.NewDesc("pipedeck_healthy", "1 when the environment has no problem.", nil, nil)
	degradedDesc = prometheus.NewDesc("pipedeck_degraded",
		"1 for each problem of the environment, those of its pipeds included.",
		[]string{"id", "part", "component"}, nil)
)

// Metrics returns what serves the problems of the environment to Prometheus: the list that status and the user
// interfaces show.
func (s *Server) Metrics() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&problems{s.store}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// problems reads the present problems at each scrape. The store bounds their number.
type problems struct{ store *store.Store }

var _ prometheus.Collector = (*problems)(nil)

// Describe implements prometheus.Collector.
func (*problems) Describe(out chan<- *prometheus.Desc) {
	out <- healthyDesc
	out <- degradedDesc
}

// Collect implements prometheus.Collector.
func (p *problems) Collect(out chan<- prometheus.Metric) {
	present := p.store.Environment.Problems()
	healthy := 1.0
	if len(present) > 0 {
		healthy = 0
	}
	out <- prometheus.MustNewConstMetric(healthyDesc, prometheus.GaugeValue, healthy)
	for _, problem := range present {
		out <- prometheus.MustNewConstMetric(degradedDesc, prometheus.GaugeValue, 1, problem.GetId(), problem.GetPart(),
			problem.GetComponent())
	}
}
