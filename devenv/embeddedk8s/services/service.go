// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubelet"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// AddressesAnnotation is on a Service: JSON, the address of each port on this machine by the port's number, as in
// {"80":"127.0.0.1:39001"}. A port that is free is used again.
const AddressesAnnotation = "pipedeck.dev/addresses"

// maxPorts is how many ports of Services are listened at.
const maxPorts = 512

// snapshot is what is open for a Service: its ports by their numbers.
type snapshot map[int32]*port

// addresses are the listeners' addresses by the ports' numbers.
func (s snapshot) addresses() map[int32]string {
	addresses := map[int32]string{}
	for number, port := range s {
		addresses[number] = port.address
	}
	return addresses
}

// open opens what the Service needs and is not open, and closes what it does not need any more. A Service without ports
// has nothing open.
func (p *Proxy) open(service *corev1.Service, name types.NamespacedName) snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	wanted := p.wantedPorts(service, name)
	before := readAddresses(service)
	result := snapshot{}
	for number, open := range p.opened[name] {
		if port, keep := wanted[number]; keep && open.http == speaksHTTP(port) {
			result[number] = open
			continue
		}
		before[number] = open.address // when it comes back as another kind of port
		p.stop(open)
	}
	delete(p.opened, name)
	count := p.countPorts() + len(result)
	for number, port := range wanted {
		if result[number] == nil {
			open, err := p.start(name, port, portOf(before[number]), count)
			if err != nil {
				p.warn(service, name, "NoListener", fmt.Sprintf("port %d has no address: %v", number, err))
				continue
			}
			result[number] = open
			count++
		}
		p.setExtra(result[number], extraNumbers(service, port))
		for taken, err := range result[number].taken {
			p.warn(service, name, "PortTaken", fmt.Sprintf("port %d of this machine is not open: %v; port %d of the "+
				"Service answers at %s", taken, err, number, result[number].address))
		}
	}
	if len(result) > 0 {
		p.opened[name] = result
	}
	return result
}

// wantedPorts are the ports that get listeners. The caller holds the lock.
func (p *Proxy) wantedPorts(service *corev1.Service, name types.NamespacedName) map[int32]corev1.ServicePort {
	wanted := map[int32]corev1.ServicePort{}
	if !answers(service) {
		return wanted
	}
	for _, port := range service.Spec.Ports {
		if isTCP(port) {
			wanted[port.Port] = port
			continue
		}
		p.warn(service, name, "UnsupportedProtocol",
			fmt.Sprintf("port %d has no address: %s is not carried here", port.Port, port.Protocol))
	}
	return wanted
}

func isTCP(port corev1.ServicePort) bool {
	return port.Protocol == "" || port.Protocol == corev1.ProtocolTCP
}

// warn records an Event once for each message. The caller holds the lock.
func (p *Proxy) warn(service *corev1.Service, name types.NamespacedName, reason, message string) {
	if p.warned[name] == nil {
		p.warned[name] = map[string]bool{}
	}
	if !p.warned[name][message] {
		p.warned[name][message] = true
		p.recorder.Event(service, corev1.EventTypeWarning, reason, message)
	}
}

// forget closes what a deleted Service has open.
func (p *Proxy) forget(name types.NamespacedName) {
	p.open(&corev1.Service{}, name)
	p.headless.forget(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.warned, name)
}

// answers reports whether a Service has an address. The API server's own is reached where it is.
func answers(service *corev1.Service) bool {
	switch {
	case service.Spec.Type == corev1.ServiceTypeExternalName, service.Spec.ClusterIP == corev1.ClusterIPNone:
		return false
	}
	return service.Namespace != corev1.NamespaceDefault || service.Name != "kubernetes"
}

func (p *Proxy) countPorts() int {
	count := 0
	for _, ports := range p.opened {
		count += len(ports)
	}
	return count
}

func (p *Proxy) allEndpoints() []*relay.Endpoints {
	all := p.headless.every()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ports := range p.opened {
		for _, port := range ports {
			all = append(all, port.endpoints)
		}
	}
	return all
}

// readAddresses reads the annotation. What cannot be read is not there.
func readAddresses(service *corev1.Service) map[int32]string {
	addresses := map[int32]string{}
	written := map[string]string{}
	if text := service.Annotations[AddressesAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &written); err != nil {
			klog.V(2).InfoS("An annotation is no JSON", "service", klog.KObj(service), "err", err)
		}
	}
	for key, address := range written {
		if number, err := strconv.ParseInt(key, 10, 32); err == nil {
			addresses[int32(number)] = address
		}
	}
	return addresses
}

// setEndpoints gives the open ports of a Service what its EndpointSlices say. It reports whether all that is ready is
// simulated.
func (p *Proxy) setEndpoints(service *corev1.Service, open snapshot) (simulated bool, err error) {
	slices, err := p.slices.EndpointSlices(service.Namespace).List(
		labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service.Name}))
	if err != nil {
		return false, err
	}
	for _, port := range service.Spec.Ports {
		if open[port.Port] != nil && isTCP(port) {
			open[port.Port].endpoints.Set(endpointsOf(slices, port.Name))
		}
	}
	return p.allSimulated(slices), nil
}

// allSimulated reports whether there are ready endpoints, and each is a pod that runs no process.
func (p *Proxy) allSimulated(slices []*discoveryv1.EndpointSlice) bool {
	found := false
	for _, slice := range slices {
		for _, endpoint := range slice.Endpoints {
			if !isReady(endpoint) {
				continue
			}
			if endpoint.TargetRef == nil {
				return false
			}
			pod, err := p.podLister.Pods(slice.Namespace).Get(endpoint.TargetRef.Name)
			if err != nil || pod.Annotations[kubelet.SimulatedKey] != "true" {
				return false
			}
			found = true
		}
	}
	return found
}

func isReady(endpoint discoveryv1.Endpoint) bool {
	ready := endpoint.Conditions.Ready
	return (ready == nil || *ready) && len(endpoint.Addresses) > 0
}

// endpointsOf returns the ready endpoints of the port with that name, and how many others there are.
func endpointsOf(slices []*discoveryv1.EndpointSlice, name string) (ready []relay.Address, unready int) {
	for _, slice := range slices {
		for _, port := range slice.Ports {
			if port.Port == nil || value(port.Name) != name || value(port.Protocol) != corev1.ProtocolTCP {
				continue
			}
			for _, endpoint := range slice.Endpoints {
				if !isReady(endpoint) {
					unready++
					continue
				}
				ready = append(ready, relay.Address{IP: endpoint.Addresses[0], Port: *port.Port})
			}
		}
	}
	return ready, unready
}

func value[T any](pointer *T) T {
	if pointer == nil {
		var zero T
		return zero
	}
	return *pointer
}
