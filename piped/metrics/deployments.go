// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pipedeck/pipedeck/api/model"
)

const (
	// maxOpen bounds the deployments with separate series; maxEnded those that have ended since the
	// last report.
	maxOpen  = 2000
	maxEnded = 1000
)

// deployments are the series that PipeCD v1 has for each deployment: 1 for its status, 0 for those that it
// has left.
type deployments struct {
	mu    sync.Mutex
	byID  map[string]*tracked
	order []string
}

type tracked struct {
	labels []string // all but the status
	now    model.DeploymentStatus
	before []model.DeploymentStatus
	// created is when it was created; zero when that was not seen, or the plan has been.
	created time.Time
}

var _ prometheus.Collector = (*deployments)(nil)

var (
	statusDesc = prometheus.NewDesc("deployment_status", "The status of a deployment: 1 for the present one, 0 for "+
		"former ones.",
		[]string{
			"deployment", "application_id", "application_name", "application_kind", "platform_provider", "status",
		}, nil)
	openDesc = prometheus.NewDesc("piped_open_deployments", "Deployments that have not ended, by status; those that "+
		"are pending wait for their turn.",
		[]string{"status"}, nil)
)

func newDeployments() *deployments { return &deployments{byID: map[string]*tracked{}} }

func completed(s model.DeploymentStatus) bool {
	return s == model.DeploymentStatus_DEPLOYMENT_SUCCESS || s == model.DeploymentStatus_DEPLOYMENT_FAILURE ||
		s == model.DeploymentStatus_DEPLOYMENT_CANCELLED
}

func (s *deployments) put(d *model.Deployment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byID[d.GetId()]
	switch {
	case t == nil:
		t = &tracked{
			labels: []string{
				d.GetId(), d.GetApplicationId(), d.GetApplicationName(), d.GetKind().String(), d.GetPlatformProvider(),
			},
		}
		s.byID[d.GetId()] = t
		s.order = append(s.order, d.GetId())
	case t.now != d.GetStatus() && !slices.Contains(t.before, t.now):
		t.before = append(t.before, t.now)
	}
	t.now = d.GetStatus()
	s.bound()
}

// created notes when a deployment was.
func (s *deployments) created(id string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.byID[id]; t != nil {
		t.created = at
	}
}

// planned returns how long the deployment has waited for its plan, once and if that is known.
func (s *deployments) planned(id string, at time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.byID[id]
	if t == nil || t.created.IsZero() {
		return 0, false
	}
	since := t.created
	t.created = time.Time{}
	return at.Sub(since), true
}

// bound forgets the oldest of those that have ended, then the oldest of all.
func (s *deployments) bound() {
	if len(s.byID) <= maxEnded {
		return
	}
	ended := 0
	for _, t := range s.byID {
		if completed(t.now) {
			ended++
		}
	}
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		done := completed(s.byID[id].now)
		over := done && ended > maxEnded || !done && len(s.byID)-ended > maxOpen
		if over {
			delete(s.byID, id)
		}
		if over && done {
			ended--
		}
		return over
	})
}

// ended are the ids of deployments that have ended.
func (s *deployments) ended() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, id := range s.order {
		if completed(s.byID[id].now) {
			ids = append(ids, id)
		}
	}
	return ids
}

// forget drops deployments that were reported.
func (s *deployments) forget(ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.byID, id)
	}
	s.order = slices.DeleteFunc(s.order, func(id string) bool { return s.byID[id] == nil })
}

// Describe implements prometheus.Collector.
func (s *deployments) Describe(out chan<- *prometheus.Desc) { out <- statusDesc; out <- openDesc }

// Collect implements prometheus.Collector.
func (s *deployments) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[model.DeploymentStatus]int{
		model.DeploymentStatus_DEPLOYMENT_PENDING: 0, model.DeploymentStatus_DEPLOYMENT_PLANNED: 0,
		model.DeploymentStatus_DEPLOYMENT_RUNNING: 0, model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK: 0,
	}
	for _, t := range s.byID {
		if !completed(t.now) {
			open[t.now]++
		}
		out <- prometheus.MustNewConstMetric(
			statusDesc, prometheus.GaugeValue, 1, append(slices.Clip(t.labels), t.now.String())...,
		)
		for _, before := range t.before {
			if before != t.now {
				out <- prometheus.MustNewConstMetric(
					statusDesc, prometheus.GaugeValue, 0, append(slices.Clip(t.labels), before.String())...,
				)
			}
		}
	}
	for status, number := range open {
		out <- prometheus.MustNewConstMetric(
			openDesc, prometheus.GaugeValue, float64(number), statusName(status.String()),
		)
	}
}
