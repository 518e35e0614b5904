// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// headless are the endpoints of Services without an address, which only routes lead to. Its zero value has none.
type headless struct {
	mu  sync.Mutex
	all map[types.NamespacedName]map[int32]*relay.Endpoints
}

// endpoints returns those of a port, as the EndpointSlices are now.
func (h *headless) endpoints(p *Proxy, service *corev1.Service, port corev1.ServicePort) (*relay.Endpoints, error) {
	slices, err := p.slices.EndpointSlices(service.Namespace).List(
		labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
	if err != nil {
		return nil, fmt.Errorf("look for the pods of Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	name := types.NamespacedName{Namespace: service.Namespace, Name: service.Name}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[types.NamespacedName]map[int32]*relay.Endpoints{}
	}
	if h.all[name] == nil {
		h.all[name] = map[int32]*relay.Endpoints{}
	}
	found := h.all[name][port.Port]
	if found == nil {
		found = relay.NewEndpoints(p.resolve)
		h.all[name][port.Port] = found
	}
	found.Set(endpointsOf(slices, port.Name))
	return found, nil
}

func (h *headless) forget(name types.NamespacedName) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, name)
}

func (h *headless) every() (all []*relay.Endpoints) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ports := range h.all {
		for _, endpoints := range ports {
			all = append(all, endpoints)
		}
	}
	return all
}
