// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Names of indexes.
const (
	byApplication = "application"
	byOwner       = "owner"
	byUID         = "uid"
	byInvolved    = "involved"
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
	// bare watches only the metadata: of these it matters that they are there.
	bare bool
	// kind is that of bare children, which do not name it, or that of the objects that Events are about.
	kind string
}

// ofEvents reports whether the watch is of what happens to objects of a kind.
func (k informerKey) ofEvents() bool { return k.gvr == events && k.kind != "" }

// informer is one watch with what it has seen.
type informer struct {
	key    informerKey
	shared cache.SharedIndexInformer
	synced cache.ResourceEventHandlerRegistration
	ctx    context.Context
	cancel context.CancelFunc
	// used is when the watch was last asked for; under watched.mu.
	used time.Time

	mu      sync.Mutex
	problem error         // of the last try to list or watch; a change back to nil is not reported
	refused chan struct{} // closed at the first problem
}

func (w *watched) newInformer(key informerKey) (*informer, error) {
	i := &informer{key: key, refused: make(chan struct{})}
	i.ctx, i.cancel = context.WithCancel(w.ctx)
	indexers := cache.Indexers{byApplication: indexApplication, byOwner: indexOwner, byUID: indexUID}
	trim := w.trimRoot
	switch {
	case key.ofEvents():
		i.shared = dynamicinformer.NewFilteredDynamicInformer(w.client.Dynamic, key.gvr, key.namespace, 0,
			cache.Indexers{byInvolved: indexInvolved}, func(o *metav1.ListOptions) {
				o.FieldSelector = fields.OneTermEqualSelector("involvedObject.kind", key.kind).String()
			}).Informer()
		trim = trimEvent
	case key.bare:
		i.shared = metadatainformer.NewFilteredMetadataInformer(w.client.Metadata, key.gvr, key.namespace, 0, indexers,
			nil).Informer()
		trim = func(o any) (any, error) { return trimBare(o, key), nil }
	case key.children:
		i.shared = dynamicinformer.NewFilteredDynamicInformer(w.client.Dynamic, key.gvr, key.namespace, 0, indexers,
			nil).Informer()
		trim = w.trimChild
	default:
		i.shared = dynamicinformer.NewFilteredDynamicInformer(w.client.Dynamic, key.gvr, key.namespace, 0, indexers,
			func(o *metav1.ListOptions) {
				o.LabelSelector = managed
			}).Informer()
	}
	if err := i.shared.SetTransform(trim); err != nil {
		return nil, err
	}
	if err := i.shared.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector,
		err error) {
		i.fail(err)
		w.doubt()
	}); err != nil {
		return nil, err
	}
	var err error
	i.synced, err = i.shared.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initial bool) {
			w.changes.Add(1)
			if !initial {
				w.saw(key, o, false)
			}
		},
		UpdateFunc: func(before, after any) {
			w.changes.Add(1)
			w.sawChange(key, before, after)
		},
		DeleteFunc: func(o any) {
			w.changes.Add(1)
			w.saw(key, o, true)
		},
	})
	return i, err
}

// sawChange takes notice of an object that may have changed: its application, and the one that has lost it, are marked.
func (w *watched) sawChange(key informerKey, before, after any) {
	was, okWas := before.(*unstructured.Unstructured)
	is, ok := after.(*unstructured.Unstructured)
	if !ok || !okWas || was.GetResourceVersion() != is.GetResourceVersion() {
		w.saw(key, after, false)
	}
	if ok && okWas && applicationOf(was) != applicationOf(is) {
		w.saw(key, before, false)
	}
}

// saw takes notice of an object that has come, changed or gone.
func (w *watched) saw(key informerKey, o any, gone bool) {
	if deleted, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = deleted.Obj
	}
	object, ok := o.(*unstructured.Unstructured)
	switch {
	case !ok:
	case key.ofEvents():
		w.sawEvent(object)
	case key.bare && key.gvr == definitions:
		w.defined(object.GetName(), gone)
	default:
		w.changed(object)
	}
}

func (i *informer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.problem == nil {
		close(i.refused)
	}
	i.problem = err
}

// filled waits until everything has been seen once. The informer tries again by itself after a problem; whoever waits
// learns of it at once.
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
			return fmt.Errorf("watch %s: %w; give the user of the kubeconfig a role with the verbs list and watch "+
				"for it", i.key.gvr.GroupResource(), i.problem)
		}
		return fmt.Errorf("watch %s: %w", i.key.gvr.GroupResource(), i.problem)
	case <-ctx.Done():
		return fmt.Errorf("list %s for the first time: %w", i.key.gvr.GroupResource(), context.Cause(ctx))
	}
}

// find returns what an index holds.
func (i *informer) find(index, value string) []*unstructured.Unstructured {
	found, err := i.shared.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil // Events have no owner and no application
	}
	list := make([]*unstructured.Unstructured, 0, len(found))
	for _, f := range found {
		if o, ok := f.(*unstructured.Unstructured); ok {
			list = append(list, o)
		}
	}
	return list
}

// at returns the object of a namespace and name; nil when there is none among what is watched.
func (i *informer) at(namespace, name string) *unstructured.Unstructured {
	found, _, err := i.shared.GetIndexer().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil {
		return nil
	}
	o, _ := found.(*unstructured.Unstructured)
	return o
}

// changed marks the application that an object belongs to, and those that have it in Git, too.
func (w *watched) changed(object *unstructured.Unstructured) {
	informers := w.all()
	for range maxDepth {
		if !inventory.IsOfOwner(object, manifest.KeyOf(object)) {
			if id := applicationOf(object); id != "" {
				w.mark(id)
			}
			for _, id := range w.lent.take(manifest.KeyOf(object)) {
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

func applicationOf(o *unstructured.Unstructured) string {
	return o.GetLabels()[manifest.LabelApplication]
}

func indexApplication(o any) ([]string, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok || inventory.IsOfOwner(object, manifest.KeyOf(object)) {
		return nil, nil
	}
	if id := applicationOf(object); id != "" {
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
		dropOwnFields(object)
	}
	return o, nil
}

// dropOwnFields forgets which fields piped has written: only those of others are ever reported, and ours are most of
// the object.
func dropOwnFields(o *unstructured.Unstructured) {
	entries := o.GetManagedFields()
	others := slices.DeleteFunc(entries,
		func(e metav1.ManagedFieldsEntry) bool { return e.Manager == apply.FieldManager })
	if len(others) == len(entries) {
		return
	}
	if len(others) == 0 {
		others = nil
	}
	o.SetManagedFields(others)
}

// trimChild keeps what the tree and the health need. A rule may need any field.
func (w *watched) trimChild(o any) (any, error) {
	object, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	object.SetManagedFields(nil)
	if w.rules.Judges(object.GroupVersionKind().GroupKind()) {
		return object, nil
	}
	object.SetAnnotations(nil)
	spec, _ := object.Object["spec"].(map[string]any)
	kept := map[string]any{}
	for _, key := range []string{"replicas", "completions", "parallelism", "suspend", "nodeName", "type", "paused",
		"storageClassName", "volumeName", "updateStrategy", "progressDeadlineSeconds"} {
		if value, found := spec[key]; found {
			kept[key] = value
		}
	}
	object.Object["spec"] = kept
	return object, nil
}

// trimBare makes objects of bare metadata like the others, as small as can be.
func trimBare(o any, key informerKey) any {
	bare, ok := o.(*metav1.PartialObjectMetadata)
	if !ok {
		return o // it has been here before
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(key.gvr.GroupVersion().String())
	object.SetKind(key.kind)
	object.SetName(bare.Name)
	object.SetNamespace(bare.Namespace)
	object.SetUID(bare.UID)
	object.SetResourceVersion(bare.ResourceVersion)
	object.SetCreationTimestamp(bare.CreationTimestamp)
	object.SetDeletionTimestamp(bare.DeletionTimestamp)
	if len(bare.OwnerReferences) > 0 {
		object.SetOwnerReferences(bare.OwnerReferences)
	}
	return object
}

func dropAnnotation(o *unstructured.Unstructured, key string) {
	annotations := o.GetAnnotations()
	if _, found := annotations[key]; found {
		delete(annotations, key)
		o.SetAnnotations(annotations)
	}
}
