// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// retryPause is the wait before statuses that could not be written are written again.
const retryPause = time.Second

// What is watched besides Ingresses.
var (
	httpRoutes       = schema.GroupVersionResource{Group: gatewayGroup, Version: "v1", Resource: "httproutes"}
	gateways         = schema.GroupVersionResource{Group: gatewayGroup, Version: "v1", Resource: "gateways"}
	virtualServices  = schema.GroupVersionResource{Group: istioGroup, Version: "v1", Resource: "virtualservices"}
	destinationRules = schema.GroupVersionResource{Group: istioGroup, Version: "v1", Resource: "destinationrules"}
)

const istioGroup = "networking.istio.io"

// Config is what the controller stands on.
type Config struct {
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	// Informers is shared with the caller, who starts it after New.
	Informers informers.SharedInformerFactory
	Services  Services
	// Listener is the proxy's, on 127.0.0.1; Run closes it.
	Listener net.Listener
	Clock    clock.PassiveClock
}

// Controller keeps a Router's table, and the objects' statuses, as the objects say. It is used once: New, start the
// informers, Run.
type Controller struct {
	config    Config
	router    *Router
	ingresses cache.SharedIndexInformer
	services  corelisters.ServiceLister
	dynamic   dynamicinformer.DynamicSharedInformerFactory
	custom    map[schema.GroupVersionResource]cache.SharedIndexInformer
	recorder  record.EventRecorder
	events    record.EventBroadcaster
	// defined is whether the kinds of routes that Kubernetes does not have are served.
	defined bool
	// changed holds a value when the table is out of date.
	changed chan struct{}
	// warned are the Events of an object that were recorded.
	warned warnings
}

// New registers what the controller needs with the shared informers.
func New(config Config) (*Controller, error) {
	pods := config.Informers.Core().V1().Pods().Informer()
	if err := indexPods(pods); err != nil {
		return nil, err
	}
	events := record.NewBroadcaster()
	c := &Controller{
		config:    config,
		ingresses: config.Informers.Networking().V1().Ingresses().Informer(),
		services:  config.Informers.Core().V1().Services().Lister(),
		dynamic:   dynamicinformer.NewDynamicSharedInformerFactory(config.Dynamic, 0),
		custom:    map[schema.GroupVersionResource]cache.SharedIndexInformer{},
		events:    events,
		recorder:  events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "pipedeck-routes"}),
		changed:   make(chan struct{}, 1), warned: warnings{},
	}
	c.router = newRouter(config.Services, pods.GetIndexer(), c.newReporter())
	watched := []cache.SharedIndexInformer{c.ingresses}
	for _, resource := range []schema.GroupVersionResource{httpRoutes, gateways, virtualServices, destinationRules} {
		c.custom[resource] = c.dynamic.ForResource(resource).Informer()
		watched = append(watched, c.custom[resource])
	}
	// Routes name Services, which may come and go.
	watched = append(watched, config.Informers.Core().V1().Services().Informer())
	for _, informer := range watched {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { c.change() },
			UpdateFunc: func(any, any) { c.change() },
			DeleteFunc: func(any) { c.change() },
		})
		if err != nil {
			return nil, fmt.Errorf("watch routes: %w", err)
		}
	}
	return c, nil
}

// Router returns what sends requests.
func (c *Controller) Router() *Router { return c.router }

func (c *Controller) change() {
	select {
	case c.changed <- struct{}{}:
	default: // it is known already
	}
}

// Define creates the definitions of the kinds of routes that Kubernetes does not have, where they are missing, and
// returns when these kinds are served. It is called once, before Run; without it only Ingresses are served.
func (c *Controller) Define(ctx context.Context) {
	err := define(ctx, c.config.Dynamic)
	if c.defined = err == nil; !c.defined && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "Only Ingresses are served")
	}
}

// Run answers at the listener and looks after routes until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.router.Close()
	c.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.config.Client.CoreV1().Events("")})
	defer c.events.Shutdown()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { c.look(ctx) })
	return c.router.serve(ctx, c.config.Listener, func(err error) {
		klog.FromContext(ctx).V(2).Info("A request reached no endpoint", "err", err)
	})
}

func (c *Controller) look(ctx context.Context) {
	if c.defined {
		c.dynamic.Start(ctx.Done())
		defer c.dynamic.Shutdown()
		c.dynamic.WaitForCacheSync(ctx.Done())
	}
	cache.WaitForCacheSync(ctx.Done(), c.ingresses.HasSynced,
		c.config.Informers.Core().V1().Services().Informer().HasSynced)
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
		err := c.rebuild(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		klog.FromContext(ctx).V(2).Info("The status of a route could not be written, will try again", "err", err)
		timer := time.NewTimer(retryPause)
		select {
		case <-ctx.Done():
		case <-timer.C:
			c.change()
		}
		timer.Stop()
	}
}

// rebuild makes a new table, and says on the objects what became of them.
func (c *Controller) rebuild(ctx context.Context) error {
	var edge []*rule
	var reports []report
	mesh := map[types.NamespacedName][]*rule{}
	for _, part := range []func() ([]*rule, map[types.NamespacedName][]*rule, []report){
		c.readIngresses, c.readHTTPRoutes, c.readVirtualServices,
	} {
		moreEdge, moreMesh, moreReports := part()
		edge, reports = append(edge, moreEdge...), append(reports, moreReports...)
		for name, rules := range moreMesh {
			mesh[name] = append(mesh[name], rules...)
		}
	}
	c.router.set(edge, mesh)
	var problems []error
	for _, r := range reports {
		problems = append(problems, c.publish(ctx, r))
	}
	return errors.Join(problems...)
}

func (c *Controller) objects(resource schema.GroupVersionResource) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, object := range c.custom[resource].GetStore().List() {
		if object, ok := object.(*unstructured.Unstructured); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

func (c *Controller) readIngresses() (edge []*rule, _ map[types.NamespacedName][]*rule, reports []report) {
	ingresses, err := c.config.Informers.Networking().V1().Ingresses().Lister().List(labels.Everything())
	if err != nil {
		klog.Error(err, "List Ingresses")
	}
	var canaries []*networkingv1.Ingress
	say := func(ingress *networkingv1.Ingress, problems ...string) {
		rules := ingressRules(ingress)
		r := ingressReport(ingress, rules, c.config.Listener.Addr(), missing(c.services, rules))
		r.problems = append(r.problems, problems...)
		reports = append(reports, r)
	}
	for _, ingress := range ingresses {
		if isCanary(ingress) {
			canaries = append(canaries, ingress)
			continue
		}
		edge = append(edge, ingressRules(ingress)...)
		say(ingress)
	}
	for _, canary := range canaries {
		added, problems := addCanary(edge, canary)
		edge = append(edge, added...)
		say(canary, problems...)
	}
	return edge, nil, reports
}

func (c *Controller) readHTTPRoutes() (edge []*rule, _ map[types.NamespacedName][]*rule, reports []report) {
	mesh := map[types.NamespacedName][]*rule{}
	known := map[types.NamespacedName]*gateway{}
	attached := map[types.NamespacedName]int32{}
	for _, object := range c.objects(gateways) {
		g := &gateway{}
		if err := read(object, g); err != nil {
			klog.Error(err, "A Gateway is ignored")
			continue
		}
		known[types.NamespacedName{Namespace: g.Namespace, Name: g.Name}] = g
	}
	for _, object := range c.objects(httpRoutes) {
		route := &httpRoute{}
		if err := read(object, route); err != nil {
			klog.Error(err, "An HTTPRoute is ignored")
			continue
		}
		rules, moreMesh, attachments := routeRules(route, known)
		own(object, http.StatusInternalServerError, rules, moreMesh)
		edge = append(edge, rules...)
		for name, rules := range moreMesh {
			mesh[name] = append(mesh[name], rules...)
		}
		for _, a := range attachments {
			if !a.foreign && a.service == nil && a.reason == "" {
				attached[types.NamespacedName{Namespace: value(a.ref.Namespace, route.Namespace), Name: a.ref.Name}]++
			}
		}
		reports = append(reports, c.routeReport(object, route, attachments, rules))
	}
	for _, object := range c.objects(gateways) {
		name := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
		if g := known[name]; g != nil {
			reports = append(reports, c.gatewayReport(object, g, attached[name]))
		}
	}
	return edge, mesh, reports
}

// own makes an object the owner of its rules.
func own(object runtime.Object, missing int, edge []*rule, mesh map[types.NamespacedName][]*rule) {
	for _, rules := range append(slices.Collect(maps.Values(mesh)), edge) {
		for _, r := range rules {
			r.owner, r.missing = object, missing
		}
	}
}

func (c *Controller) readVirtualServices() (edge []*rule, _ map[types.NamespacedName][]*rule, reports []report) {
	mesh := map[types.NamespacedName][]*rule{}
	known := subsets{}
	for _, object := range c.objects(destinationRules) {
		if err := known.read(object); err != nil {
			klog.Error(err, "A DestinationRule is ignored")
		}
	}
	for _, object := range c.objects(virtualServices) {
		rules, moreMesh, problems, err := virtualRules(object, known)
		if err != nil {
			problems = append(problems, err.Error())
		}
		own(object, 0, rules, moreMesh)
		edge = append(edge, rules...)
		for name, rules := range moreMesh {
			mesh[name] = append(mesh[name], rules...)
		}
		reports = append(reports, report{
			object: object, resource: virtualServices, hosts: hostsOf(rules), address: c.config.Listener.Addr(),
			problems: problems,
		})
	}
	return edge, mesh, reports
}
