// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// leftovers returns the running watches, besides those that are needed, which have objects of an application, and the
// keys of what controllers make of these: Git had objects of these kinds once, or another application has them.
func (w *watched) leftovers(applicationID string, needed map[informerKey]bool) (list []*informer,
	children []informerKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, i := range w.informers {
		if _, asked := needed[key]; asked || key.children || key.bare || key.ofEvents() {
			continue
		}
		if objects := i.find(byApplication, applicationID); len(objects) > 0 {
			i.used = time.Now()
			list, children = append(list, i), append(children, childrenOfAll(objects)...)
		}
	}
	return list, children
}

// findLeftovers watches each kind of which piped has applied something before: what an earlier process applied of kinds
// that no application has in Git any more would not be seen otherwise. It ends when the cluster has answered once.
func (w *watched) findLeftovers() {
	managed := labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped}
	pauses := cluster.Pauses(firstLook, longestLook)
	items, _, err := inventory.List(w.ctx, w.client, managed, []string{w.client.Namespace})
	for err != nil {
		if cluster.Wait(w.ctx, pauses) != nil {
			return
		}
		items, _, err = inventory.List(w.ctx, w.client, managed, []string{w.client.Namespace})
	}
	users := map[schema.GroupVersionResource]map[string]bool{}
	for _, item := range items {
		if users[item.Resource] == nil {
			users[item.Resource] = map[string]bool{}
		}
		users[item.Resource][item.Meta.Labels[manifest.LabelApplication]] = true
	}
	for resource, applications := range users {
		if w.isFollowed(resource.GroupResource()) {
			continue
		}
		i, err := w.informer(informerKey{gvr: resource})
		if err != nil {
			return // as many kinds are watched as may be
		}
		if i.filled(w.ctx) != nil {
			continue
		}
		for id := range applications {
			w.mark(id)
		}
	}
}

// isFollowed reports whether what piped applied of a kind is watched, in any version.
func (w *watched) isFollowed(kind schema.GroupResource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.informers {
		if !key.children && !key.bare && !key.ofEvents() && key.namespace == "" && key.gvr.GroupResource() == kind {
			return true
		}
	}
	return false
}

// childrenOfAll returns the watches for what controllers make of objects.
func childrenOfAll(objects []*unstructured.Unstructured) []informerKey {
	var keys []informerKey
	for _, o := range objects {
		children, _ := childrenIn(o.GetNamespace(), o.GroupVersionKind().GroupKind())
		for _, child := range children {
			keys = append(keys, informerKey{gvr: child.gvr, namespace: o.GetNamespace(), children: true,
				bare: child.bare, kind: child.kind})
		}
	}
	return keys
}
