// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxInformers bounds the watches of one cluster.
const maxInformers = 512

// idleTime is how long a watch that no application asks for is kept at least; piped looks at each every 10 minutes.
const idleTime = time.Hour

var (
	errTooManyClusters  = fmt.Errorf("live state is watched for at most %d deploy targets", maxClusters)
	errTooManyInformers = fmt.Errorf("live state is watched for at most %d kinds and namespaces of one cluster",
		maxInformers)
)

// managed selects what piped has applied, of any application.
var managed = labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped}.String()

// watched is one cluster with the watches that applications need.
type watched struct {
	client *cluster.Client
	masker *masker
	mark   func(applicationID string)
	// rules may need more of an object than the tree does; nil for none.
	rules *health.Rules
	// changes counts the events of all watches.
	changes atomic.Int64
	lent    lent
	// doubts is sent to, without waiting, when a watch breaks.
	doubts chan struct{}

	ctx    context.Context
	cancel context.CancelFunc
	runs   sync.WaitGroup

	mu        sync.Mutex
	informers map[informerKey]*informer
	// confined kinds may be listed only inside of a namespace.
	confined map[schema.GroupVersionResource]bool
	// barred are optional watches that the API has refused.
	barred map[informerKey]bool
	kinds  kinds
}

func watch(client *cluster.Client, masker *masker, mark func(string)) *watched {
	ctx, cancel := context.WithCancel(context.Background())
	return &watched{
		client: client, masker: masker, mark: mark, ctx: ctx, cancel: cancel,
		informers: map[informerKey]*informer{}, confined: map[schema.GroupVersionResource]bool{},
		barred: map[informerKey]bool{}, kinds: newKinds(), doubts: make(chan struct{}, 1),
	}
}

func (w *watched) close() {
	w.mu.Lock()
	w.cancel() // from now on nothing is begun
	w.mu.Unlock()
	w.runs.Wait()
}

// place is where a manifest belongs in this cluster.
type place struct {
	manifest manifest.Manifest
	gvr      schema.GroupVersionResource
	// known is false while the cluster has no such kind; versions are those in which it has it then, empty for none.
	known    bool
	versions string
	// at says which rendering of a chart has the manifest.
	at rendering
}

// place finds where a manifest belongs; its namespace is set or removed accordingly, in a copy.
func (w *watched) place(m manifest.Manifest) (place, error) {
	gvk := m.GroupVersionKind()
	mapping, err := w.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return place{manifest: m, versions: w.versions(gvk.GroupKind())}, nil
	}
	if err != nil {
		return place{}, fmt.Errorf("ask the cluster which resource %s is: %w", gvk.Kind, err)
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	switch {
	case !namespaced && m.GetNamespace() != "":
		m = m.Clone()
		unstructured.RemoveNestedField(m.Object, "metadata", "namespace")
	case namespaced && m.GetNamespace() == "":
		m = m.Clone()
		m.SetNamespace(w.client.Namespace)
	}
	return place{manifest: m, gvr: mapping.Resource, known: true}, nil
}

// versions lists the apiVersions in which the cluster has a kind.
func (w *watched) versions(kind schema.GroupKind) string {
	mappings, err := w.client.Mapper.RESTMappings(kind)
	if err != nil {
		return ""
	}
	var list []string
	for _, m := range mappings {
		list = append(list, m.GroupVersionKind.GroupVersion().String())
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ", ")
}

// follow returns the running, filled watches that an application needs. Places whose kind turns out to be gone are
// noted as not known.
func (w *watched) follow(ctx context.Context, places []place, filter config.AppStateInformer,
	applicationID string) ([]*informer, error) {
	var followed []*informer
	needed := map[informerKey]bool{} // false for optional ones
	add := func(key informerKey, optional bool) error {
		_, seen := needed[key]
		if optional && (seen || w.isBarred(key)) {
			return nil
		}
		needed[key] = !optional
		if seen {
			return nil
		}
		i, err := w.informer(key)
		if err != nil {
			return err
		}
		followed = append(followed, i)
		return nil
	}
	for at, p := range places {
		if !p.known {
			continue
		}
		namespace, key := p.manifest.GetNamespace(), informerKey{gvr: p.gvr}
		confined, err := w.isConfined(ctx, p.gvr, namespace)
		if apierrors.IsNotFound(err) { // its definition has just been removed, which discovery will show later
			places[at].known = false
			w.misses(p.manifest.GroupVersionKind(), applicationID)
			continue
		}
		if err != nil {
			return nil, err
		}
		if confined {
			key.namespace = namespace
		}
		if err := add(key, false); err != nil {
			return nil, err
		}
		children, optional := childrenIn(namespace, p.manifest.GroupVersionKind().GroupKind())
		for _, child := range children {
			if kind, err := w.client.Mapper.KindFor(child.gvr); err == nil &&
				!filter.Watches(kind.GroupVersion().String(), kind.Kind, namespace) {
				continue
			}
			if err := add(informerKey{gvr: child.gvr, namespace: namespace, children: true, bare: child.bare,
				kind: child.kind}, optional); err != nil {
				return nil, err
			}
		}
	}
	leftovers, children := w.leftovers(applicationID, needed)
	for _, child := range children {
		if err := add(child, true); err != nil {
			return nil, err
		}
	}
	filled, absent, err := w.fill(ctx, followed, needed)
	w.forget(places, absent, applicationID)
	return append(filled, leftovers...), err
}

// forget notes places as not known whose resources the API does not have any more.
func (w *watched) forget(places []place, absent map[schema.GroupVersionResource]bool, applicationID string) {
	for at, p := range places {
		if p.known && absent[p.gvr] {
			places[at].known = false
			w.misses(p.manifest.GroupVersionKind(), applicationID)
		}
	}
}

// fill waits until watches have seen everything once. Ones that are not needed and that the API refuses are left out
// from now on. absent are needed resources that the API does not have any more: their definition has just been removed.
func (w *watched) fill(ctx context.Context, followed []*informer, needed map[informerKey]bool) (filled []*informer,
	absent map[schema.GroupVersionResource]bool, err error) {
	absent = map[schema.GroupVersionResource]bool{}
	for _, i := range followed {
		switch err := i.filled(ctx); {
		case err == nil:
			filled = append(filled, i)
		case needed[i.key] && apierrors.IsNotFound(err):
			absent[i.key.gvr] = true
			w.drop(i.key.gvr.GroupResource())
		case needed[i.key] || ctx.Err() != nil:
			return nil, nil, err
		case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
			w.bar(i.key)
		}
	}
	return filled, absent, nil
}

func (w *watched) isBarred(key informerKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.barred[key]
}

// bar ends a watch that the API refuses.
func (w *watched) bar(key informerKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.informers[key]; i != nil {
		i.cancel()
		delete(w.informers, key)
	}
	if len(w.barred) < maxInformers {
		w.barred[key] = true
	}
}

// isConfined asks once whether a kind may be listed in the whole cluster.
func (w *watched) isConfined(ctx context.Context, gvr schema.GroupVersionResource, namespace string) (bool, error) {
	w.mu.Lock()
	confined, known := w.confined[gvr]
	w.mu.Unlock()
	if known {
		return confined, nil
	}
	_, err := w.client.Metadata.Resource(gvr).List(ctx, metav1.ListOptions{LabelSelector: managed, Limit: 1})
	switch {
	case err == nil:
	case apierrors.IsForbidden(err) && namespace != "":
		confined = true
	default:
		return false, fmt.Errorf("list %s: %w", gvr.GroupResource(), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.confined) < maxInformers {
		w.confined[gvr] = confined
	}
	return confined, nil
}

// informer returns the watch of a key, and starts it when there is none.
func (w *watched) informer(key informerKey) (*informer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.informers[key]; i != nil {
		i.used = time.Now()
		return i, nil
	}
	if w.ctx.Err() != nil {
		return nil, errors.New("the deploy target has just been replaced or the plugin is stopping")
	}
	w.dropIdle()
	if len(w.informers) == maxInformers {
		return nil, errTooManyInformers
	}
	i, err := w.newInformer(key)
	if err != nil {
		return nil, err
	}
	i.used = time.Now()
	w.informers[key] = i
	w.runs.Go(func() { i.shared.RunWithContext(i.ctx) })
	return i, nil
}

// dropIdle ends the watches that no one has asked for in a long time: those of applications that are gone. Every other
// one is looked at from time to time.
func (w *watched) dropIdle() {
	for key, i := range w.informers {
		if time.Since(i.used) > idleTime {
			i.cancel()
			delete(w.informers, key)
		}
	}
}

// all returns every watch.
func (w *watched) all() []*informer {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]*informer, 0, len(w.informers))
	for _, i := range w.informers {
		list = append(list, i)
	}
	return list
}
