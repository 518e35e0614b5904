// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package services

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/relay"
)

const (
	workers = 2
	// A write that fails is tried again, first at once, then ever more seldom.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
	// retireTimeout bounds how long a pod's end waits for its first answers.
	retireTimeout = time.Second
)

// PodAddresses says where a pod's port answers on this machine, as host:port; the error says why no process of the pod
// answers there. It is asked at each connection, from several goroutines.
type PodAddresses interface {
	HostPort(podIP string, port int32) (hostPort string, err error)
}

// Route chooses the endpoints of an HTTP request to a Service's port. It returns nil where nothing but the Service
// itself has a say.
type Route func(service types.NamespacedName, port int32, r *http.Request) (relay.Dialer, error)

// Config is what the proxy stands on.
type Config struct {
	Client kubernetes.Interface
	// Informers is shared with the caller, who starts it after New and Attach.
	Informers informers.SharedInformerFactory
	// APIServer is the API server's host:port.
	APIServer string
	Clock     clock.PassiveClock
}

// Proxy gives Services addresses on this machine. It is used once: New, Attach, start the informers, Run.
type Proxy struct {
	config    Config
	pods      PodAddresses
	route     Route
	services  corelisters.ServiceLister
	slices    discoverylisters.EndpointSliceLister
	podLister corelisters.PodLister
	synced    []cache.InformerSynced
	queue     workqueue.TypedRateLimitingInterface[types.NamespacedName]
	recorder  record.EventRecorder
	events    record.EventBroadcaster
	headless  headless

	// ctx ends with Run; running counts what uses it. It does not grow once closed is set.
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	opened map[types.NamespacedName]map[int32]*port
	// warned are the messages that a Service has got as Events.
	warned map[types.NamespacedName]map[string]bool
}

// New registers what the proxy needs with the shared informers.
func New(config Config) (*Proxy, error) {
	events := record.NewBroadcaster()
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		config:    config,
		services:  config.Informers.Core().V1().Services().Lister(),
		slices:    config.Informers.Discovery().V1().EndpointSlices().Lister(),
		podLister: config.Informers.Core().V1().Pods().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry)),
		events:   events,
		recorder: events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "pipedeck-services"}),
		ctx:      ctx, cancel: cancel,
		opened: map[types.NamespacedName]map[int32]*port{},
		warned: map[types.NamespacedName]map[string]bool{},
	}
	for _, watch := range []struct {
		informer cache.SharedIndexInformer
		changed  func(any)
	}{
		{config.Informers.Core().V1().Services().Informer(), p.serviceChanged},
		{config.Informers.Discovery().V1().EndpointSlices().Informer(), p.sliceChanged},
	} {
		registered, err := watch.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    watch.changed,
			UpdateFunc: func(_, object any) { watch.changed(object) },
			DeleteFunc: watch.changed,
		})
		if err != nil {
			cancel()
			return nil, fmt.Errorf("watch Services: %w", err)
		}
		p.synced = append(p.synced, registered.HasSynced)
	}
	return p, nil
}

// Attach says where pods are, and what else has a say in where requests go. It must be called once, before the
// informers are started.
func (p *Proxy) Attach(pods PodAddresses, route Route) { p.pods, p.route = pods, route }

// Run looks after Services until ctx ends, and returns when all connections are closed.
func (p *Proxy) Run(ctx context.Context) {
	defer p.close()
	defer p.queue.ShutDown()
	p.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: p.config.Client.CoreV1().Events("")})
	defer p.events.Shutdown()
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) {
		return
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() { p.work(ctx) })
	}
	<-ctx.Done()
	p.queue.ShutDown()
	working.Wait()
}

// Retire lets no new connection go to a pod that is going to end. It returns when each connection that the pod already
// has been given is being answered, after a second at most: then a program that stops listening loses none.
func (p *Proxy) Retire(ctx context.Context, podIP string) {
	ctx, cancel := context.WithTimeout(ctx, retireTimeout)
	defer cancel()
	var retiring sync.WaitGroup
	for _, endpoints := range p.allEndpoints() {
		retiring.Go(func() { endpoints.Retire(ctx, podIP) })
	}
	retiring.Wait()
}

func (p *Proxy) serviceChanged(object any) {
	if service, ok := last(object).(*corev1.Service); ok {
		p.queue.Add(types.NamespacedName{Namespace: service.Namespace, Name: service.Name})
	}
}

func (p *Proxy) sliceChanged(object any) {
	if slice, ok := last(object).(*discoveryv1.EndpointSlice); ok {
		p.queue.Add(types.NamespacedName{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]})
	}
}

// last is an object, or what is known of it when its deletion was missed.
func last(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

func (p *Proxy) work(ctx context.Context) {
	for {
		name, shutdown := p.queue.Get()
		if shutdown {
			return
		}
		err := p.sync(ctx, name)
		switch {
		case err == nil, ctx.Err() != nil, apierrors.IsNotFound(err):
			p.queue.Forget(name)
		default:
			if !apierrors.IsConflict(err) {
				klog.FromContext(ctx).Error(err, "Looking after a Service failed, will try again", "service", name)
			}
			p.queue.AddRateLimited(name)
		}
		p.queue.Done(name)
	}
}

// sync brings listeners, endpoints and annotation of one Service up to date.
func (p *Proxy) sync(ctx context.Context, name types.NamespacedName) error {
	service, err := p.services.Services(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) {
		p.forget(name)
		return nil
	}
	if err != nil {
		return err
	}
	open := p.open(service, name)
	simulated, err := p.setEndpoints(service, open)
	if err != nil {
		return err
	}
	return errors.Join(p.publish(ctx, service, open, simulated), p.publishBalancer(ctx, service, open))
}

func (p *Proxy) resolve(address relay.Address) (string, error) {
	return p.pods.HostPort(address.IP, address.Port)
}

// Backend returns the endpoints of a Service's port: by its number, or its name where number is 0, or its first where
// there is neither. The error is what a request can be answered with.
func (p *Proxy) Backend(name types.NamespacedName, number int32, portName string) (*relay.Endpoints, error) {
	service, err := p.services.Services(name.Namespace).Get(name.Name)
	if err != nil {
		return nil, fmt.Errorf("there is no Service %s", name)
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		return nil, fmt.Errorf("Service %s is of the type ExternalName, which has no pods", name)
	}
	for _, port := range service.Spec.Ports {
		other := number != 0 && port.Port != number || number == 0 && portName != "" && port.Name != portName
		if other || !isTCP(port) {
			continue
		}
		if service.Spec.ClusterIP == corev1.ClusterIPNone {
			return p.headless.endpoints(p, service, port)
		}
		p.mu.Lock()
		open := p.opened[name][port.Port]
		p.mu.Unlock()
		if open == nil {
			return nil, fmt.Errorf("Service %s has no address here", name)
		}
		return open.endpoints, nil
	}
	return nil, fmt.Errorf("Service %s has no such port", name)
}
