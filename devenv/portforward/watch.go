// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/devenv/services"
)

var (
	podResource   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	sliceResource = schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}
)

// watcher reports the pods behind a port.
type watcher struct {
	resource            schema.GroupVersionResource
	namespace, selector string
	read                func(objects []unstructured.Unstructured) pods
}

// pods are those behind a port.
type pods struct {
	ready []pod
	// coming counts those that are not ready yet.
	coming int
	// going are those that end; they may still answer what they have received.
	going []pod
}

// run calls set at each change until ctx ends. Broken watches are begun again.
func (w watcher) run(ctx context.Context, c *cluster, set func(pods)) {
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
		ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				o.LabelSelector = w.selector
				return resource.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				o.LabelSelector = w.selector
				return resource.Watch(ctx, o)
			},
		}, c.objects),
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
func watchService(s *services.Service, port string) watcher {
	return watcher{
		resource: sliceResource, namespace: s.Namespace,
		selector: labelServiceName + "=" + s.Name,
		read: func(objects []unstructured.Unstructured) pods {
			// A pod with two addresses is in two slices.
			states := map[pod]podState{}
			for _, o := range objects {
				var slice endpointSlice
				if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &slice) == nil {
					readSlice(&slice, port, states)
				}
			}
			return sorted(states)
		},
	}
}

func readSlice(slice *endpointSlice, port string, states map[pod]podState) {
	number := int32(0)
	for _, p := range slice.Ports {
		if value(p.Name) == port && p.Port != nil && (p.Protocol == nil || *p.Protocol == protocolTCP) {
			number = *p.Port
		}
	}
	if number == 0 {
		return
	}
	for _, e := range slice.Endpoints {
		if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
			continue
		}
		state := podComing
		switch {
		case value(e.Conditions.Terminating):
			state = podGoing
		case e.Conditions.Ready == nil || *e.Conditions.Ready:
			state = podReady
		}
		p := pod{e.TargetRef.Namespace, e.TargetRef.Name, e.TargetRef.UID, number}
		states[p] = max(states[p], state)
	}
}

// watchPods watches the ready pods of a selector. A named port may have another number in each pod.
func watchPods(namespace, selector string, port func(*podObject) int32) watcher {
	return watcher{
		resource: podResource, namespace: namespace, selector: selector,
		read: func(objects []unstructured.Unstructured) pods {
			states := map[pod]podState{}
			for _, o := range objects {
				var p podObject
				if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &p) == nil && !ended(&p) {
					states[pod{p.Namespace, p.Name, string(p.UID), port(&p)}] = stateOf(&p)
				}
			}
			return sorted(states)
		},
	}
}

func stateOf(p *podObject) podState {
	if p.DeletionTimestamp != nil {
		return podGoing
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" && c.Status == "True" {
			return podReady
		}
	}
	return podComing
}

// ended reports whether no container of a pod will answer any more.
func ended(p *podObject) bool {
	return p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
}

type podState int

const (
	podComing podState = iota + 1
	podReady
	podGoing
)

// sorted keeps the order steady, so that turns go round.
func sorted(states map[pod]podState) pods {
	var all pods
	for _, p := range slices.SortedFunc(maps.Keys(states),
		func(a, b pod) int { return cmp.Or(strings.Compare(a.name, b.name), int(a.port-b.port)) }) {
		switch states[p] {
		case podReady:
			all.ready = append(all.ready, p)
		case podGoing:
			all.going = append(all.going, p)
		default:
			all.coming++
		}
	}
	return all
}

func value[T any](pointer *T) (v T) {
	if pointer != nil {
		v = *pointer
	}
	return v
}
