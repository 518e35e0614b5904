// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

// Services are the backends: *services.Proxy.
type Services interface {
	Backend(service types.NamespacedName, number int32, portName string) (*relay.Endpoints, error)
}

// Router sends requests by the table that it was given last.
type Router struct {
	services Services
	// pods has the index podIPIndex.
	pods cache.Indexer
	// unreached is called with the owner of a rule that names no Service which is there, and the problem.
	unreached func(owner runtime.Object, problem string)
	// copies is closed by Close.
	copies *relay.Copies
	table  atomic.Pointer[table]
}

// podIPIndex finds pods by their address.
const podIPIndex = "podIP"

// indexPods adds the index to the pods' informer, which must not be running yet.
func indexPods(pods cache.SharedIndexInformer) error {
	err := pods.AddIndexers(cache.Indexers{podIPIndex: func(object any) ([]string, error) {
		if pod, ok := object.(*corev1.Pod); ok && pod.Status.PodIP != "" {
			return []string{pod.Status.PodIP}, nil
		}
		return nil, nil
	}})
	if err != nil {
		return fmt.Errorf("index pods by address: %w", err)
	}
	return nil
}

func newRouter(
	services Services, pods cache.Indexer, unreached func(owner runtime.Object, problem string),
) *Router {
	router := &Router{services: services, pods: pods, unreached: unreached, copies: relay.NewCopies()}
	router.table.Store(&table{})
	return router
}

// Close ends the copies of requests that are under way.
func (t *Router) Close() { t.copies.Close() }

// set replaces the table. Rules that stay as they are go on sharing where they were.
func (t *Router) set(edge []*rule, mesh map[types.NamespacedName][]*rule) {
	turns := map[string]*rule{}
	before := t.table.Load()
	collect := func(r *rule) { turns[r.key()] = r }
	for _, r := range before.edge {
		collect(r)
	}
	for _, rules := range before.mesh {
		for _, r := range rules {
			collect(r)
		}
	}
	share := func(r *rule) {
		key := r.key()
		if known := turns[key]; known != nil {
			r.split, r.copies = known.split, known.copies
			return
		}
		r.takeTurns()
		turns[key] = r
	}
	next := &table{mesh: mesh}
	for _, r := range edge {
		next.edge = append(next.edge, perHost(r)...)
	}
	for _, r := range next.edge {
		share(r)
	}
	sortRules(next.edge)
	for _, rules := range mesh {
		for _, r := range rules {
			share(r)
		}
		sortRules(rules)
	}
	t.table.Store(next)
}

// ForService implements services.Route: it returns nil for a Service that no route is for.
func (t *Router) ForService(service types.NamespacedName, port int32, r *http.Request) (relay.Dialer, error) {
	rules := t.table.Load().mesh[service]
	if len(rules) == 0 {
		return nil, nil
	}
	found := find(rules, port, r)
	if found == nil {
		return nil, &relay.Refusal{
			Status: http.StatusNotFound,
			Text:   fmt.Sprintf("No rule of %s is for %s %s", rules[0].object, r.Method, r.URL.Path),
		}
	}
	return t.dialer(found, port, r)
}

// forHost chooses for a request to the proxy.
func (t *Router) forHost(r *http.Request) (relay.Dialer, error) {
	table := t.table.Load()
	found := find(table.edge, 0, r)
	if found == nil {
		text := "No Ingress, HTTPRoute or VirtualService is here"
		if len(table.edge) > 0 {
			text = "No route is for this host and path. Hosts: " + strings.Join(table.names(), ", ")
		}
		return nil, &relay.Refusal{Status: http.StatusNotFound, Text: text}
	}
	return t.dialer(found, 0, r)
}

// knows reports whether a host is one of the table's.
func (t *Router) knows(host string) bool {
	return slices.ContainsFunc(t.table.Load().edge, func(r *rule) bool {
		return len(r.hosts) > 0 && r.hosts[0] != "*" && hostMatches(r.hosts, host)
	})
}

// dialer takes the next turn of a rule, and copies the request where the rule asks for that.
func (t *Router) dialer(r *rule, port int32, request *http.Request) (relay.Dialer, error) {
	refuse := func(status int, text string) (relay.Dialer, error) {
		return nil, &relay.Refusal{Status: status, Text: fmt.Sprintf("%s, %s: %s", r.object, r.part, text)}
	}
	if r.broken != "" {
		return refuse(http.StatusNotImplemented, r.broken)
	}
	next := r.split.Next()
	if next < 0 {
		return refuse(http.StatusInternalServerError, "no backend has a weight")
	}
	to := r.backends[next]
	if to.broken != "" {
		return refuse(http.StatusInternalServerError, to.broken)
	}
	dial, err := t.reach(to, port)
	if err != nil {
		if r.owner != nil {
			t.unreached(r.owner, fmt.Sprintf("%s: %v", r.part, err))
		}
		return refuse(cmp.Or(r.missing, http.StatusServiceUnavailable), err.Error())
	}
	for _, c := range r.copies {
		if !c.isNext() || c.to.broken != "" {
			continue
		}
		if other, err := t.reach(c.to, port); err == nil { // copies are no reason to refuse a request
			t.copies.Add(request, other)
		}
	}
	return dial, nil
}

// reach returns what connects to a backend.
func (t *Router) reach(to backend, port int32) (relay.Dialer, error) {
	endpoints, err := t.services.Backend(to.service, cmp.Or(to.number, port), to.portName)
	if err != nil && to.number == 0 && to.portName == "" {
		endpoints, err = t.services.Backend(to.service, 0, "")
	}
	if err != nil {
		return nil, err
	}
	if to.labels == nil {
		return endpoints.Dial, nil
	}
	return func(ctx context.Context) (net.Conn, error) {
		return endpoints.DialWhere(ctx, func(a relay.Address) bool { return t.hasLabels(to, a.IP) })
	}, nil
}

// hasLabels reports whether the pod with that address is of the backend's version.
func (t *Router) hasLabels(to backend, ip string) bool {
	found, err := t.pods.ByIndex(podIPIndex, ip)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(found, func(object any) bool {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Namespace != to.service.Namespace ||
			pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return false
		}
		for key, wanted := range to.labels {
			if pod.Labels[key] != wanted {
				return false
			}
		}
		return true
	})
}

// serve answers at the listener until ctx ends.
func (t *Router) serve(ctx context.Context, listener net.Listener, failed func(error)) error {
	handler := relay.HTTP{Choose: t.forHost, Failed: failed, Forwarded: true}.Handler()
	server := relay.NewHTTPServer(relay.OwnNames(t.knows, handler))
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve routes at %s: %w", listener.Addr(), err)
	}
	return nil
}
