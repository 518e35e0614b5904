// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

var (
	podResource   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	sliceResource = schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
)

// watcher tells of the pods behind a port.
type watcher struct {
	resource            schema.GroupVersionResource
	namespace, selector string
	// read makes pods of the objects; all counts those that are to become ready, too.
	read func(objects []unstructured.Unstructured) (ready []pod, all int)
}

// run calls set at each change until ctx ends. Broken watches are begun again.
func (w watcher) run(ctx context.Context, c *cluster, set func(ready []pod, all int)) {
	resource := c.objects.Resource(w.resource).Namespace(w.namespace)
	var store cache.Store
	changed := func() {
		var objects []unstructured.Unstructured
		for _, o := range store.List() {
			objects = append(objects, *o.(*unstructured.Unstructured))
		}
		set(w.read(objects))
	}
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = w.selector
				return resource.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = w.selector
				return resource.Watch(ctx, o)
			},
		},
		ObjectType: &unstructured.Unstructured{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { changed() },
			UpdateFunc: func(any, any) { changed() },
			DeleteFunc: func(any) { changed() },
		},
	})
	controller.RunWithContext(ctx)
}

// watchService watches the ready pods of a service's port, by its EndpointSlices.
func watchService(service *corev1.Service, port string) watcher {
	return watcher{
		resource: sliceResource, namespace: service.Namespace,
		selector: discoveryv1.LabelServiceName + "=" + service.Name,
		read: func(objects []unstructured.Unstructured) ([]pod, int) {
			found := map[pod]bool{}
			var order []pod
			for _, o := range objects {
				var slice discoveryv1.EndpointSlice
				if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &slice) != nil {
					continue
				}
				for _, p := range podsOf(&slice, port) {
					if _, known := found[p.pod]; !known {
						order = append(order, p.pod)
					}
					found[p.pod] = found[p.pod] || p.ready
				}
			}
			var ready []pod
			for _, p := range order {
				if found[p] {
					ready = append(ready, p)
				}
			}
			return ready, len(order)
		},
	}
}

type endpoint struct {
	pod
	ready bool
}

// podsOf are the pods of a slice that are not about to go.
func podsOf(slice *discoveryv1.EndpointSlice, port string) []endpoint {
	number := int32(0)
	for _, p := range slice.Ports {
		if value(p.Name) == port && p.Port != nil && (p.Protocol == nil || *p.Protocol == corev1.ProtocolTCP) {
			number = *p.Port
		}
	}
	if number == 0 {
		return nil
	}
	var pods []endpoint
	for _, e := range slice.Endpoints {
		if e.TargetRef == nil || e.TargetRef.Kind != "Pod" || value(e.Conditions.Terminating) {
			continue
		}
		to := pod{e.TargetRef.Namespace, e.TargetRef.Name, string(e.TargetRef.UID), number}
		pods = append(pods, endpoint{to, e.Conditions.Ready == nil || *e.Conditions.Ready})
	}
	return pods
}

// watchPods watches the ready pods of a selector. A named port may have another number in each pod.
func watchPods(namespace, selector string, port func(*corev1.Pod) int32) watcher {
	return watcher{
		resource: podResource, namespace: namespace, selector: selector,
		read: func(objects []unstructured.Unstructured) ([]pod, int) {
			var ready []pod
			all := 0
			for _, o := range objects {
				var p corev1.Pod
				if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &p) != nil || p.DeletionTimestamp != nil || port(&p) == 0 {
					continue
				}
				all++
				for _, c := range p.Status.Conditions {
					if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
						ready = append(ready, pod{p.Namespace, p.Name, string(p.UID), port(&p)})
					}
				}
			}
			return ready, all
		},
	}
}

func value[T any](pointer *T) (v T) {
	if pointer != nil {
		v = *pointer
	}
	return v
}

// seed reads the pods once, so that what is there is known without waiting for the watch.
func (w watcher) seed(ctx context.Context, c *cluster) (ready []pod, all int, err error) {
	list, err := c.objects.Resource(w.resource).Namespace(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: w.selector})
	if err != nil {
		return nil, 0, fmt.Errorf("list %s in namespace %s: %w", w.resource.Resource, w.namespace, err)
	}
	ready, all = w.read(list.Items)
	return ready, all, nil
}
