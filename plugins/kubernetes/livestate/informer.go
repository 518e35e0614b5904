// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Names of indexes.
const (
	byApplication = "application"
	byOwner       = "owner"
	byUID         = "uid"
)

// maxDepth bounds the way from a pod to what was applied: CronJob, Job, Pod, and room for custom kinds.
const maxDepth = 6

// lastApplied is where `kubectl apply` keeps the manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

type informerKey struct {
	gvr schema.GroupVersionResource
	// namespace is empty for all.
	namespace string
	// children are what controllers made, whatever its labels; otherwise only what piped applied is watched.
	children bool
}

// informer is one watch with what it has seen.
type informer struct {
	key    informerKey
	shared cache.SharedIndexInformer
	synced cache.ResourceEventHandlerRegistration

	mu      sync.Mutex
	problem error         // of the last try to list or watch; nil again after the next success is not told
	refused chan struct{} // closed at the first problem
}

func (w *watched) newInformer(key informerKey) (*informer, error) {
	var selector dynamicinformer.TweakListOptionsFunc
	if !key.children {
		selector = func(o *metav1.ListOptions) { o.LabelSelector = managed }
	}
	i := &informer{key: key, refused: make(chan struct{})}
	i.shared = dynamicinformer.NewFilteredDynamicInformer(w.client.Dynamic, key.gvr, key.namespace, 0, cache.Indexers{
		byApplication: indexApplication, byOwner: indexOwner, byUID: indexUID,
	}, selector).Informer()
	trim := w.trimRoot
	if key.children {
		trim = trimChild
	}
	if err := i.shared.SetTransform(trim); err != nil {
		return nil, err
	}
	if err := i.shared.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) { i.fail(err) }); err != nil {
		return nil, err
	}
	var err error
	i.synced, err = i.shared.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initial bool) {
			if !initial {
				w.changed(o)
			}
		},
		UpdateFunc: func(before, after any) {
			was, okWas := before.(*unstructured.Unstructured)
			is, ok := after.(*unstructured.Unstructured)
			if !ok || !okWas || was.GetResourceVersion() != is.GetResourceVersion() {
				w.changed(after)
			}
		},
		DeleteFunc: func(o any) { w.changed(o) },
	})
	return i, err
}

func (i *informer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.problem == nil {
		close(i.refused)
	}
	i.problem = err
}

// filled waits until everything has been seen once. The informer tries again by itself after a problem; whoever waits is
// told of it at once.
func (i *informer) filled(ctx context.Context) error {
	if i.synced.HasSynced() {
		return nil
	}
	select {
	case <-i.synced.HasSyncedChecker().Done():
		return nil
	case <-i.refused:
		i.mu.Lock()
		defer i.mu.Unlock()
		if apierrors.IsForbidden(i.problem) {
			return fmt.Errorf("watch %s: %w; give the user of the kubeconfig a role with the verbs list and watch for it", i.key.gvr.GroupResource(), i.problem)
		}
		return fmt.Errorf("watch %s: %w", i.key.gvr.GroupResource(), i.problem)
	case <-ctx.Done():
		return fmt.Errorf("list %s for the first time: %w", i.key.gvr.GroupResource(), context.Cause(ctx))
	}
}

// find gives what an index holds.
func (i *informer) find(index, value string) []*unstructured.Unstructured {
	found, err := i.shared.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil // there is no such index, which cannot be
	}
	list := make([]*unstructured.Unstructured, 0, len(found))
	for _, f := range found {
		if o, ok := f.(*unstructured.Unstructured); ok {
			list = append(list, o)
		}
	}
	return list
}

// changed marks the application that an object belongs to.
func (w *watched) changed(o any) {
	if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	informers := w.all()
	for range maxDepth {
		if len(object.GetOwnerReferences()) == 0 {
			if id := object.GetLabels()[manifest.LabelApplication]; id != "" {
				w.mark(id)
			}
			return
		}
		if object = ownerOf(object, informers); object == nil {
			return
		}
	}
}

func ownerOf(o *unstructured.Unstructured, informers []*informer) *unstructured.Unstructured {
	for _, ref := range o.GetOwnerReferences() {
		for _, i := range informers {
			if found := i.find(byUID, string(ref.UID)); len(found) > 0 {
				return found[0]
			}
		}
	}
	return nil
}

func indexApplication(o any) ([]string, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok || len(object.GetOwnerReferences()) > 0 {
		return nil, nil
	}
	if id := object.GetLabels()[manifest.LabelApplication]; id != "" {
		return []string{id}, nil
	}
	return nil, nil
}

func indexOwner(o any) ([]string, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	var owners []string
	for _, ref := range object.GetOwnerReferences() {
		owners = append(owners, string(ref.UID))
	}
	return owners, nil
}

func indexUID(o any) ([]string, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	return []string{string(object.GetUID())}, nil
}

// trimRoot hides secrets and drops what is never looked at.
func (w *watched) trimRoot(o any) (any, error) {
	if object, ok := o.(*unstructured.Unstructured); ok {
		w.masker.mask(object)
		dropAnnotation(object, lastApplied)
	}
	return o, nil
}

// trimChild keeps what the tree and the health need.
func trimChild(o any) (any, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	object.SetManagedFields(nil)
	object.SetAnnotations(nil)
	spec, _ := object.Object["spec"].(map[string]any)
	kept := map[string]any{}
	for _, key := range []string{"replicas", "completions", "parallelism", "suspend", "nodeName"} {
		if value, found := spec[key]; found {
			kept[key] = value
		}
	}
	object.Object["spec"] = kept
	return object, nil
}

func dropAnnotation(o *unstructured.Unstructured, key string) {
	annotations := o.GetAnnotations()
	if _, found := annotations[key]; found {
		delete(annotations, key)
		o.SetAnnotations(annotations)
	}
}
