// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"k8s.io/client-go/informers"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/metricsapi"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/usage"
)

// metrics measure what pods use. The API server serves them, and autoscalers ask for them.
type metrics struct {
	meter *usage.Meter
	api   *metricsapi.API
}

func newMetrics() metrics {
	meter := usage.New(clock.RealClock{})
	return metrics{meter, metricsapi.New(meter)}
}

// attach says where pods run.
func (m metrics) attach(pods *kubelet.Kubelet, shared informers.SharedInformerFactory) {
	if local := pods.Local(); local != nil {
		m.meter.Attach(local)
	}
	core := shared.Core().V1()
	m.api.Attach(core.Pods().Lister(), core.Nodes().Lister())
}
