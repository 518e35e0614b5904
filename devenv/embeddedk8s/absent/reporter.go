// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package absent

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/controller-manager/pkg/informerfactory"
)

// Reporter records an Event on objects that nothing acts on. It is used once: New, start the informers, Run.
type Reporter struct {
	client   kubernetes.Interface
	events   record.EventBroadcaster
	recorder record.EventRecorder
	// simulated is set when all pods are.
	simulated bool
}

// New registers with the informers, which the caller starts. In a simulated cluster no pod runs as processes.
func New(client kubernetes.Interface, all informerfactory.InformerFactory, simulated bool) (*Reporter, error) {
	events := record.NewBroadcaster()
	r := &Reporter{
		client: client, events: events,
		recorder:  events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "pipedeck.dev/absent"}),
		simulated: simulated,
	}
	list, err := kinds()
	if err != nil {
		return nil, err
	}
	for _, kind := range list {
		resource, err := kind.resource()
		if err != nil {
			return nil, err
		}
		informer, err := all.ForResource(resource)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
		_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(object any) { r.report(kind, resource.GroupVersion(), object) },
		})
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
	}
	return r, nil
}

func (r *Reporter) report(kind Kind, version schema.GroupVersion, of any) {
	object, ok := of.(metav1.Object)
	if !ok || !concerns(of, r.simulated) {
		return
	}
	r.recorder.Event(&corev1.ObjectReference{
		APIVersion: version.String(), Kind: kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(),
		UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
	}, corev1.EventTypeWarning, "NotServed", "nothing acts on this object in the embedded cluster: "+kind.Lacks)
}

// Run records until ctx ends.
func (r *Reporter) Run(ctx context.Context) {
	r.events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: r.client.CoreV1().Events("")})
	defer r.events.Shutdown()
	<-ctx.Done()
}
