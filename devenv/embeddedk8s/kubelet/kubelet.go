// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/localpods"
)

const (
	// Writes on their way to the API server at the same time. More does not make two cores faster.
	workers = 8
	// A write that fails is tried again, first at once, then ever more seldom.
	firstRetry = 5 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Config is what the kubelet stands on.
type Config struct {
	// NodeName is the name of the one node, a DNS-1123 subdomain.
	NodeName string
	Client   kubernetes.Interface
	// Informers is shared with the caller, who starts it after New.
	Informers informers.SharedInformerFactory
	// Version is the Kubernetes release the node reports, as in "v1.36.3".
	Version string
	// APIPort is where package kubeletapi listens on 127.0.0.1.
	APIPort int32
	Clock   clock.PassiveClock
	// Programs are the images that run as processes of this machine; nil: every pod is simulated.
	Programs localpods.Programs
	// Services may be nil. It is asked by pods that run.
	Services localpods.Services
	// PodsDir holds the folders of pods that run.
	PodsDir string
	// VolumesDir holds the directories of the volumes of claims, see package claims.
	VolumesDir string
}

// Kubelet is the one node. It is used once: New, start the informers, Run.
type Kubelet struct {
	config    Config
	local     *localpods.Manager // nil: every pod is simulated
	simulated simulatedPods
	pods      corelisters.PodLister
	nodes     corelisters.NodeLister
	claims    corelisters.PersistentVolumeClaimLister
	// references looks up what pods refer to.
	references references
	synced     []cache.InformerSynced
	queue      workqueue.TypedRateLimitingInterface[types.NamespacedName]
	addresses  *addresses
	recorder   record.EventRecorder
	events     record.EventBroadcaster
}

// New registers what the kubelet needs with the shared informers.
func New(config Config) (*Kubelet, error) {
	events := record.NewBroadcaster()
	kubelet := &Kubelet{
		config: config,
		pods:   config.Informers.Core().V1().Pods().Lister(),
		nodes:  config.Informers.Core().V1().Nodes().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry)),
		addresses:  newAddresses(),
		references: references{config.Client, config.Informers.Core().V1()},
		events:     events,
		recorder: events.NewRecorder(scheme.Scheme,
			corev1.EventSource{Component: "simulated-kubelet", Host: config.NodeName}),
	}
	pods, err := config.Informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    kubelet.enqueue,
		UpdateFunc: func(_, pod any) { kubelet.enqueue(pod) },
		DeleteFunc: kubelet.forget,
	})
	if err != nil {
		return nil, fmt.Errorf("watch pods: %w", err)
	}
	nodes, err := config.Informers.Core().V1().Nodes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { kubelet.enqueuePending() },
		UpdateFunc: func(before, after any) {
			kubelet.nodeChanged(before.(*corev1.Node), after.(*corev1.Node))
			kubelet.imagesChanged(before.(*corev1.Node), after.(*corev1.Node))
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch nodes: %w", err)
	}
	if err := kubelet.watchReferences(); err != nil {
		return nil, err
	}
	kubelet.synced = []cache.InformerSynced{pods.HasSynced, nodes.HasSynced}
	if config.Programs == nil {
		return kubelet, nil
	}
	return kubelet, kubelet.runPods()
}

// Run registers the node and looks after pods until ctx ends. ready is called once pods are being looked after.
func (k *Kubelet) Run(ctx context.Context, ready func()) error {
	defer k.queue.ShutDown()
	k.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: k.config.Client.CoreV1().Events("")})
	defer k.events.Shutdown()

	if err := k.register(ctx); err != nil {
		return err
	}
	if !cache.WaitForCacheSync(ctx.Done(), k.synced...) {
		return nil
	}
	if err := k.keepAddresses(); err != nil {
		return err
	}
	if err := k.sweepPods(); err != nil {
		return err
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { k.work(ctx) })
	}
	ready()
	<-ctx.Done()
	k.queue.ShutDown()
	running.Wait()
	if k.local != nil {
		k.local.Close()
	}
	return nil
}

func (k *Kubelet) enqueue(object any) {
	pod := object.(*corev1.Pod)
	k.queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
}

func (k *Kubelet) forget(object any) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		k.simulated.forget(pod.UID)
		if k.local != nil {
			k.local.Forget(pod.UID)
		}
		k.addresses.release(pod.UID)
	}
}
