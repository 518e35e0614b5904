// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

const loopback = "127.0.0.1"

// port is a Service's port that is listened at. Its maps are guarded by the proxy's lock.
type port struct {
	// address is the listener's, host:port.
	address   string
	http      bool
	endpoints *relay.Endpoints
	server    relay.Server
	listener  net.Listener
	// extra are the listeners at numbers that the Service itself names.
	extra map[int]net.Listener
	// taken are the numbers that could not be listened at, with the reason.
	taken map[int]error
}

// start opens a port when there are not too many; before is the number that it had, or 0. The caller holds the lock.
func (p *Proxy) start(name types.NamespacedName, spec corev1.ServicePort, before, count int) (*port, error) {
	if count >= maxPorts {
		return nil, fmt.Errorf("%d ports of Services have one, and more do not get one", count)
	}
	listener, err := relay.ListenFor(fmt.Sprintf("%s:%d", name, spec.Port), before)
	if err != nil {
		return nil, err
	}
	endpoints := relay.NewEndpoints(p.resolve)
	failed := p.failureReporter(name, spec.Port)
	open := &port{
		address: listener.Addr().String(), http: speaksHTTP(spec), endpoints: endpoints, listener: listener,
		extra: map[int]net.Listener{}, taken: map[int]error{},
	}
	if open.http {
		handler := relay.HTTP{Choose: p.choose(name, spec.Port, endpoints), Failed: failed}.Handler()
		open.server = relay.NewHTTPServer(relay.OwnNames(ownedBy(name), handler))
	} else {
		open.server = relay.NewTCP(endpoints.Dial, failed)
	}
	p.serve(open.server, listener)
	return open, nil
}

// choose returns a function that chooses the endpoints of a request to a Service's port.
func (p *Proxy) choose(
	name types.NamespacedName, port int32, own *relay.Endpoints,
) func(*http.Request) (relay.Dialer, error) {
	return func(r *http.Request) (relay.Dialer, error) {
		if dial, err := p.route(name, port, r); dial != nil || err != nil {
			return dial, err
		}
		return own.Dial, nil
	}
}

// ownedBy reports whether a host is a name of the Service.
func ownedBy(name types.NamespacedName) func(host string) bool {
	return func(host string) bool {
		host = strings.TrimSuffix(strings.TrimSuffix(host, ".cluster.local"), ".svc")
		return host == name.Name || host == name.Name+"."+name.Namespace
	}
}

func (p *Proxy) serve(server relay.Server, listener net.Listener) {
	p.running.Go(func() {
		err := server.Serve(listener)
		if !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			klog.FromContext(p.ctx).Error(err, "A Service's port is not served any more", "address", listener.Addr())
		}
	})
}

// stop closes a port's listeners; its connections go on until they end by themselves. The caller holds the lock.
func (p *Proxy) stop(open *port) {
	closeListeners(open)
	p.running.Go(func() { _ = errors.Join(open.server.Shutdown(p.ctx), open.server.Close()) })
}

func closeListeners(open *port) {
	_ = open.listener.Close() // what it frees is listened at again perhaps, so that this cannot wait for Shutdown
	for _, listener := range open.extra {
		_ = listener.Close()
	}
}

// extraNumbers are the ports of this machine that a Service names itself: its node port, and as a load balancer its
// port.
func extraNumbers(service *corev1.Service, port corev1.ServicePort) []int {
	var numbers []int
	if port.NodePort != 0 {
		numbers = append(numbers, int(port.NodePort))
	}
	if service.Spec.Type == corev1.ServiceTypeLoadBalancer {
		numbers = append(numbers, int(port.Port))
	}
	return numbers
}

// setExtra listens at these numbers as well, as far as they are free, and at no other. The caller holds the lock.
func (p *Proxy) setExtra(open *port, numbers []int) {
	for number, listener := range open.extra {
		if !slices.Contains(numbers, number) {
			_ = listener.Close()
			delete(open.extra, number)
		}
	}
	clear(open.taken)
	for _, number := range numbers {
		if open.extra[number] != nil || open.address == net.JoinHostPort(loopback, strconv.Itoa(number)) {
			continue
		}
		listener, err := relay.Listen(number)
		if err != nil {
			open.taken[number] = err
			continue
		}
		open.extra[number] = listener
		p.serve(open.server, listener)
	}
}

// close ends all ports and connections, and returns when they have ended.
func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	var servers []relay.Server
	for _, ports := range p.opened {
		for _, open := range ports {
			closeListeners(open)
			servers = append(servers, open.server)
		}
	}
	clear(p.opened)
	p.mu.Unlock()
	p.cancel()
	for _, server := range servers {
		_ = server.Close()
	}
	p.running.Wait()
}

// portOf returns the number in host:port, or 0.
func portOf(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return int(number)
}
