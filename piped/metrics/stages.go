// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// maxStages bounds the names of stages with separate series; the others count as one.
const maxStages = 200

// stages times the attempts at stages, by plugin.
type stages struct {
	durations *prometheus.HistogramVec
	plugins   func() []*agentv1.Plugin

	mu    sync.Mutex
	names map[string]bool
}

func newStages(plugins func() []*agentv1.Plugin) *stages {
	return &stages{
		plugins: plugins, names: map[string]bool{},
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "piped_stage_duration_seconds",
			Help:    "Time that attempts at stages took, by plugin and status; those that were skipped took none.",
			Buckets: durations,
		}, []string{"plugin", "stage", "status"}),
	}
}

func (s *stages) observe(e observe.Event) {
	if e.Type == observe.StageStarted {
		return
	}
	name := s.name(e.Stage.GetName())
	status := strings.ToLower(strings.TrimPrefix(e.Type.String(), "STAGE_"))
	s.durations.WithLabelValues(s.owner(name), name, status).Observe(e.Took.Seconds())
}

func (s *stages) name(stage string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.names[stage] {
		if len(s.names) >= maxStages {
			return "other"
		}
		s.names[stage] = true
	}
	return stage
}

// owner is the plugin that has the stage; empty when none says so now.
func (s *stages) owner(stage string) string {
	for _, p := range s.plugins() {
		if slices.Contains(p.GetStages(), stage) {
			return p.GetName()
		}
	}
	return ""
}
