// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

const (
	// fieldManager names the writer of the annotation.
	fieldManager = "pipedeck-services"
	// PortTaken is the error in a load balancer's status of a port that another program of this machine has.
	PortTaken = "pipedeck.dev/PortTaken"
	// sameReport is how long a failure with the same text is not reported again.
	sameReport = time.Minute
)

// publish writes the addresses of a Service to its annotation, and whether all its pods are simulated to another one.
func (p *Proxy) publish(ctx context.Context, service *corev1.Service, open snapshot, simulated bool) error {
	wanted := map[string]any{AddressesAnnotation: nil, kubelet.SimulatedKey: nil} // nil removes one
	if simulated {
		wanted[kubelet.SimulatedKey] = "true"
	}
	if len(open) > 0 {
		addresses := map[string]string{}
		for number, address := range open.addresses() {
			addresses[strconv.Itoa(int(number))] = address
		}
		text, err := json.Marshal(addresses)
		if err != nil {
			return fmt.Errorf("write addresses: %w", err)
		}
		wanted[AddressesAnnotation] = string(text)
	}
	maps.DeleteFunc(wanted, func(key string, value any) bool {
		was, has := service.Annotations[key]
		return has && value == was || !has && value == nil
	})
	if len(wanted) == 0 {
		return nil
	}
	return p.patch(ctx, service, map[string]any{"metadata": map[string]any{"annotations": wanted}})
}

// publishBalancer says in the status of a Service of type LoadBalancer that it is reached on this machine, and which of
// its ports are not.
func (p *Proxy) publishBalancer(ctx context.Context, service *corev1.Service, open snapshot) error {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer || len(open) == 0 {
		return nil
	}
	ingress := corev1.LoadBalancerIngress{IP: loopback, IPMode: new(corev1.LoadBalancerIPModeVIP)}
	for _, spec := range service.Spec.Ports {
		status := corev1.PortStatus{Port: spec.Port, Protocol: corev1.ProtocolTCP}
		if p.isTaken(open[spec.Port], int(spec.Port)) {
			status.Error = new(PortTaken)
		}
		ingress.Ports = append(ingress.Ports, status)
	}
	wanted := corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{ingress}}
	if equality.Semantic.DeepEqual(service.Status.LoadBalancer, wanted) {
		return nil
	}
	return p.patch(ctx, service, map[string]any{"status": map[string]any{"loadBalancer": wanted}}, "status")
}

func (p *Proxy) isTaken(open *port, number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return open == nil || open.taken[number] != nil
}

func (p *Proxy) patch(
	ctx context.Context, service *corev1.Service, change map[string]any, subresources ...string,
) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("write a change of Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	_, err = p.config.Client.CoreV1().Services(service.Namespace).Patch(ctx, service.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager}, subresources...)
	return err
}

// failureReporter returns a function that records an Event for a connection which reached no endpoint.
func (p *Proxy) failureReporter(name types.NamespacedName, port int32) func(error) {
	var mu sync.Mutex
	var text string
	var at time.Time
	return func(err error) {
		message := fmt.Sprintf("a connection to port %d was closed: %v", port, err)
		now := p.config.Clock.Now()
		mu.Lock()
		again := message == text && now.Sub(at) < sameReport
		if !again {
			text, at = message, now
		}
		mu.Unlock()
		service, getErr := p.services.Services(name.Namespace).Get(name.Name)
		if again || getErr != nil {
			return
		}
		reason := "EndpointFailed"
		if errors.Is(err, relay.ErrNoEndpoint) {
			reason = "NoEndpoint"
		}
		p.recorder.Event(service, corev1.EventTypeWarning, reason, message)
	}
}
