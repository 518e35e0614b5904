// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxInformers bounds the watches of one cluster.
const maxInformers = 512

var (
	errTooManyClusters  = fmt.Errorf("live state is watched for at most %d deploy targets", maxClusters)
	errTooManyInformers = fmt.Errorf("live state is watched for at most %d kinds and namespaces of one cluster", maxInformers)
)

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// managed selects what piped has applied, of any application.
var managed = labels.Set{manifest.LabelManagedBy: manifest.ManagedByPiped}.String()

// watched is one cluster with the watches that applications need.
type watched struct {
	client *cluster.Client
	masker *masker
	mark   func(applicationID string)

	ctx    context.Context
	cancel context.CancelFunc
	runs   sync.WaitGroup

	mu        sync.Mutex
	informers map[informerKey]*informer
	// confined kinds may be listed only inside of a namespace.
	confined map[schema.GroupVersionResource]bool
}

func watch(client *cluster.Client, masker *masker, mark func(string)) *watched {
	ctx, cancel := context.WithCancel(context.Background())
	return &watched{
		client: client, masker: masker, mark: mark, ctx: ctx, cancel: cancel,
		informers: map[informerKey]*informer{}, confined: map[schema.GroupVersionResource]bool{},
	}
}

func (w *watched) close() {
	w.cancel()
	w.runs.Wait()
}

// place is where a manifest belongs in this cluster.
type place struct {
	manifest manifest.Manifest
	gvr      schema.GroupVersionResource
	// known is false while the cluster has no such kind.
	known bool
}

// place finds where a manifest belongs; its namespace is set or removed accordingly, in a copy.
func (w *watched) place(m manifest.Manifest) (place, error) {
	gvk := m.GroupVersionKind()
	mapping, err := w.client.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		return place{manifest: m}, nil
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

// follow gives the running, filled watches that an application needs.
func (w *watched) follow(ctx context.Context, places []place) ([]*informer, error) {
	var followed []*informer
	seen := map[informerKey]bool{}
	for _, p := range places {
		if !p.known {
			continue
		}
		keys := []informerKey{{gvr: p.gvr}}
		confined, err := w.isConfined(ctx, p.gvr, p.manifest.GetNamespace())
		if err != nil {
			return nil, err
		}
		if confined {
			keys[0].namespace = p.manifest.GetNamespace()
		}
		for _, child := range childrenOf(p.manifest.GroupVersionKind().GroupKind()) {
			keys = append(keys, informerKey{gvr: child, namespace: p.manifest.GetNamespace(), children: true})
		}
		for _, key := range keys {
			if seen[key] {
				continue
			}
			seen[key] = true
			i, err := w.informer(key)
			if err != nil {
				return nil, err
			}
			followed = append(followed, i)
		}
	}
	for _, i := range followed {
		if err := i.filled(ctx); err != nil {
			return nil, err
		}
	}
	return followed, nil
}

// childrenOf names the kinds that controllers make from a kind. Custom workloads make the same ones as Deployments.
func childrenOf(kind schema.GroupKind) []schema.GroupVersionResource {
	switch kind.String() {
	case "Deployment.apps", "Rollout.argoproj.io":
		return []schema.GroupVersionResource{replicaSets, pods}
	case "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "ReplicationController":
		return []schema.GroupVersionResource{pods}
	case "CronJob.batch":
		return []schema.GroupVersionResource{jobs, pods}
	}
	return nil
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

// informer gives the watch of a key, and starts it when there is none.
func (w *watched) informer(key informerKey) (*informer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.informers[key]; i != nil {
		return i, nil
	}
	if w.ctx.Err() != nil {
		return nil, errors.New("the deploy target has just been replaced or the plugin is stopping")
	}
	if len(w.informers) == maxInformers {
		return nil, errTooManyInformers
	}
	i, err := w.newInformer(key)
	if err != nil {
		return nil, err
	}
	w.informers[key] = i
	w.runs.Go(func() { i.shared.RunWithContext(w.ctx) })
	return i, nil
}

// all gives every watch.
func (w *watched) all() []*informer {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]*informer, 0, len(w.informers))
	for _, i := range w.informers {
		list = append(list, i)
	}
	return list
}
