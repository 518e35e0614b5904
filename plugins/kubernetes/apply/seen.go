// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxSeen bounds the objects that are remembered; one takes about 150 bytes.
const maxSeen = 20_000

// Seen remembers objects as the API returned them when they were applied. An object that the cluster still has like
// that, and whose manifest is the same, is not sent again: the API would write nothing. The cluster is asked each time;
// only what was sent, and what came back, is remembered. It may be used by several goroutines, for several clusters.
type Seen struct {
	mu      sync.Mutex
	objects map[types.UID]seen
}

type seen struct{ manifest, live print }

// print stands for a document. The zero print stands for none, and is equal to no other.
type print [16]byte

func (p print) is(other print) bool { return p != print{} && p == other }

// NewSeen returns a Seen that remembers nothing yet.
func NewSeen() *Seen { return &Seen{objects: map[types.UID]seen{}} }

// note remembers an object. When there are too many it begins again: what is forgotten is sent once more.
func (s *Seen) note(uid types.UID, is seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.objects[uid]; !known && len(s.objects) >= maxSeen {
		clear(s.objects)
	}
	s.objects[uid] = is
}

func (s *Seen) has(uid types.UID, is seen) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.objects[uid]
	return known && was.manifest.is(is.manifest) && was.live.is(is.live)
}

// printOf returns the print of whatever JSON can hold.
func printOf(document any) print {
	data, err := json.Marshal(document)
	if err != nil {
		return print{}
	}
	sum := sha256.Sum256(data)
	return print(sum[:])
}

// printOfLive returns the print of an object's metadata that changes with whatever an apply looks at. Kinds with a
// generation count the changes of their specification; the status of these is left out, because it changes by itself.
// Of other kinds each write changes the print.
func printOfLive(o metav1.Object) print {
	if o.GetDeletionTimestamp() != nil {
		return print{}
	}
	if o.GetGeneration() == 0 {
		return printOf([]string{string(o.GetUID()), o.GetResourceVersion()})
	}
	managed := slices.DeleteFunc(slices.Clone(o.GetManagedFields()), func(e metav1.ManagedFieldsEntry) bool {
		return e.Subresource == "status"
	})
	return printOf([]any{o.GetUID(), o.GetGeneration(), o.GetLabels(), o.GetAnnotations(), o.GetOwnerReferences(),
		o.GetFinalizers(), managed})
}

// bodyless are the kinds of whose objects nothing but their metadata is looked at once they are applied: they have no
// status, and nothing waits for them.
var bodyless = map[string]bool{
	"/ConfigMap": true, "/Secret": true, "/ServiceAccount": true,
	"rbac.authorization.k8s.io/Role": true, "rbac.authorization.k8s.io/RoleBinding": true,
	"rbac.authorization.k8s.io/ClusterRole": true, "rbac.authorization.k8s.io/ClusterRoleBinding": true,
}

// isPlain reports whether a manifest is applied in the ordinary way, whatever the live object is.
func (r *run) isPlain(m manifest.Manifest) bool {
	annotations := m.GetAnnotations()
	return r.Seen != nil && r.Restore == nil && !runsAgain(m) && !r.isScaled(m.Key()) &&
		annotations[manifest.AnnotationForceReplace] != manifest.Enabled &&
		annotations[manifest.AnnotationReplace] != manifest.Enabled
}

// unsent returns the live object of a manifest that need not be sent, nil when it has to be. Of bodyless kinds it has
// only what names it.
func (r *run) unsent(ctx context.Context, api dynamic.ResourceInterface, m manifest.Manifest,
	sent print) *unstructured.Unstructured {
	was, known := r.before.byKey[m.Key()]
	if !known || !r.Seen.has(was.uid, seen{manifest: sent, live: was.print}) {
		return nil
	}
	judged := r.Judges != nil && r.Judges(m.GroupVersionKind().GroupKind())
	if gvk := m.GroupVersionKind(); !judged && bodyless[gvk.Group+"/"+gvk.Kind] {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetGroupVersionKind(gvk)
		o.SetName(m.GetName())
		o.SetNamespace(m.GetNamespace())
		o.SetUID(was.uid)
		o.SetResourceVersion(was.version)
		o.SetLabels(map[string]string{manifest.LabelApplication: was.application})
		return o
	}
	live, err := api.Get(ctx, m.GetName(), metav1.GetOptions{})
	if err != nil || !printOfLive(live).is(was.print) {
		return nil
	}
	return live
}
