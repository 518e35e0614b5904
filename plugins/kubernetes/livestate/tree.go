// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxObjects bounds what is reported of one application, so that the answer stays below the bound of a message.
const maxObjects = 10_000

// object is one live object of an application. It is shared with the watch and must not be changed.
type object struct {
	live *unstructured.Unstructured
	// parents are the ids of its owners; none for what piped applied.
	parents []string
}

// placed is an application as it should be in this cluster.
type placed struct {
	// target is the deploy target; empty for an application of one cluster.
	target    string
	filter    config.AppStateInformer
	places    []place
	informers []*informer
}

// placeAll finds the places of all manifests that the filter leaves, and fills the watches.
func (w *watched) placeAll(ctx context.Context, want *wanted, filter config.AppStateInformer,
	applicationID string) (*placed, error) {
	p := &placed{filter: filter}
	for i, m := range want.all() {
		one, err := w.place(m)
		if err == nil && !filter.Watches(m.GetAPIVersion(), m.GetKind(), one.manifest.GetNamespace()) {
			continue
		}
		if err == nil && !one.known {
			one, err = w.placeMissing(ctx, m, applicationID)
		}
		if err == nil && one.known && isCustom(one.gvr.Group) {
			w.uses(one.gvr.GroupResource(), applicationID)
			err = w.followKinds(ctx)
		}
		if err != nil {
			return nil, err
		}
		one.at = want.at(i)
		p.places = append(p.places, one)
	}
	var err error
	p.informers, err = w.follow(ctx, p.places, filter, applicationID)
	return p, err
}

// placeMissing looks again for a kind that is not known, and has the application reported when it is there.
func (w *watched) placeMissing(ctx context.Context, m manifest.Manifest, applicationID string) (place, error) {
	if err := w.followKinds(ctx); err != nil {
		return place{}, err
	}
	if w.misses(m.GroupVersionKind(), applicationID) {
		w.client.Mapper.Reset() // what it knows may be older than the watch of definitions
	}
	return w.place(m)
}

// objects returns what lives of an application: what was applied, sorted, then what controllers made of that.
func (p *placed) objects(applicationID string) []*object {
	var list []*object
	seen := map[types.UID]bool{}
	add := func(live *unstructured.Unstructured, parents []string) {
		if !seen[live.GetUID()] && len(list) < maxObjects &&
			p.filter.Watches(live.GetAPIVersion(), live.GetKind(), live.GetNamespace()) {
			seen[live.GetUID()] = true
			list = append(list, &object{live: live, parents: parents})
		}
	}
	for _, live := range p.roots(applicationID) {
		add(live, nil)
	}
	keys := make(map[*object]string, len(list))
	for _, o := range list {
		keys[o] = manifest.KeyOf(o.live).String()
	}
	slices.SortFunc(list, func(a, b *object) int { return cmp.Compare(keys[a], keys[b]) })
	for at := 0; at < len(list); at++ { // list grows by the children
		owner := list[at].live
		var children []*unstructured.Unstructured
		for _, i := range p.informers {
			for _, child := range i.find(byOwner, string(owner.GetUID())) {
				if child.GetDeletionTimestamp() == nil && !isRetired(child) {
					children = append(children, child)
				}
			}
		}
		slices.SortFunc(children, func(a, b *unstructured.Unstructured) int {
			return cmp.Compare(a.GetName(),
				b.GetName())
		})
		for _, child := range children {
			add(child, []string{string(owner.GetUID())})
		}
	}
	return list
}

// roots returns what was applied of an application. Git may have objects of one kind in several versions: each object
// comes in the version of its manifest first, and in another one where the watch of that version has not seen it yet.
func (p *placed) roots(applicationID string) []*unstructured.Unstructured {
	inGit := map[manifest.Key]schema.GroupVersionResource{}
	for _, one := range p.places {
		inGit[one.manifest.Key().Fold()] = one.gvr
	}
	var list, others []*unstructured.Unstructured
	for _, i := range p.informers {
		if i.key.children {
			continue
		}
		for _, live := range i.find(byApplication, applicationID) {
			key := manifest.KeyOf(live)
			gvr, known := inGit[key.Fold()]
			switch {
			case inventory.IsCopy(live, key) && !known, manifest.IsElsewhere(live.GetAnnotations(), p.target):
			case known && gvr != i.key.gvr:
				others = append(others, live)
			default:
				list = append(list, live)
			}
		}
	}
	return append(list, others...)
}

// holder returns who has an object of Git that is in the cluster and not the application's, as the end of a sentence;
// empty when it is not among what piped applied.
func (p *placed) holder(one place, applicationID string, known *names) string {
	for _, i := range p.informers {
		if i.key.children || i.key.gvr != one.gvr {
			continue
		}
		live := i.at(one.manifest.GetNamespace(), one.manifest.GetName())
		if live == nil {
			continue
		}
		switch owner := applicationOf(live); {
		case owner != "" && owner != applicationID:
			return "belongs to the application " + known.of(owner, applicationID) + ", which applied it last"
		case manifest.IsElsewhere(live.GetAnnotations(), p.target):
			return "belongs to the deploy target " + live.GetAnnotations()[manifest.AnnotationDeployTarget] +
				", which leads into the same cluster"
		}
	}
	return ""
}

// isRetired reports the replica sets that a Deployment keeps for its own rollback.
func isRetired(o *unstructured.Unstructured) bool {
	if o.GetKind() != manifest.KindReplicaSet {
		return false
	}
	wanted, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	have, _, _ := unstructured.NestedInt64(o.Object, "status", "replicas")
	return wanted == 0 && have == 0
}
