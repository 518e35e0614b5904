// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// EnsureNamespace creates a namespace unless it is there. One that is being deleted is waited for and created again.
func (a *Applier) EnsureNamespace(ctx context.Context, name string) error {
	r := a.client.Dynamic.Resource(namespaces)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": manifest.KindNamespace, "metadata": map[string]any{"name": name},
	}}
	for range maxLeaving {
		there := false
		err := a.retry.Do(ctx, retryable, func() error {
			_, err := r.Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
			if there = apierrors.IsAlreadyExists(err); there {
				return nil
			}
			return err
		})
		if apierrors.IsForbidden(err) {
			// No need to when it is there, which another Get may not show either: then applying does.
			if _, getErr := r.Get(ctx, name, metav1.GetOptions{}); getErr == nil || apierrors.IsForbidden(getErr) {
				there, err = true, nil
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("create namespace %s (input.autoCreateNamespace): %w", name, err)
		case !there:
			a.log.Successf("- created Namespace %s", name)
			return nil
		}
		leaving, err := a.awaitNamespace(ctx, name, true)
		if err != nil || !leaving {
			return err
		}
	}
	return fmt.Errorf("create namespace %s (input.autoCreateNamespace): it was deleted each of the %d times; what "+
		"deletes it?", name, maxLeaving)
}

// awaitLeaving waits for the namespaces of the manifests that are being deleted, where the manifests make them again.
// In the others nothing can be created: that is reported before anything is applied.
func (a *Applier) awaitLeaving(ctx context.Context, manifests []manifest.Manifest) error {
	created := map[string]bool{}
	for _, m := range manifests {
		switch {
		case m.Is(manifest.KindNamespace):
			created[m.GetName()] = true
		case m.GetNamespace() != "":
			created[m.GetNamespace()] = created[m.GetNamespace()]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		if _, err := a.awaitNamespace(ctx, name, created[name]); err != nil {
			return err
		}
	}
	return nil
}

// awaitNamespace waits until a namespace that is being deleted is gone. It reports whether it was leaving; one that may
// not be looked at is taken for one that stays. Without again, one that leaves is an error.
func (a *Applier) awaitNamespace(ctx context.Context, name string, created bool) (leaving bool, err error) {
	r := a.client.Dynamic.Resource(namespaces)
	live, err := r.Get(ctx, name, metav1.GetOptions{})
	if err != nil || live.GetDeletionTimestamp() == nil {
		return false, nil
	}
	since := time.Since(live.GetDeletionTimestamp().Time).Round(time.Second)
	if !created {
		return true, fmt.Errorf("the namespace %s is being deleted since %s, so nothing can be created in it%s: "+
			"wait until it is gone, then deploy with input.autoCreateNamespace: true and input.namespace, or with "+
			"a Namespace among the manifests",
			name, since, heldBy(live))
	}
	a.log.Infof("The namespace %s is being deleted since %s: waiting until it is gone, to create it again%s", name,
		since, heldBy(live))
	last := live
	waiting, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	err = cluster.Follow(waiting, r, cluster.Named(name), func(objects []*unstructured.Unstructured) (bool, error) {
		for _, o := range objects {
			if o.GetUID() == live.GetUID() {
				last = o
				return false, nil
			}
		}
		return true, nil
	})
	switch {
	case ctx.Err() != nil:
		return true, context.Cause(ctx)
	case waiting.Err() != nil:
		return true, fmt.Errorf("the namespace %s is still being deleted after another %s%s: fix what holds it, "+
			"then deploy again", name, goneTimeout, heldBy(last))
	case err != nil:
		return true, fmt.Errorf("wait until the namespace %s is deleted: %w", name, err)
	}
	return true, nil
}

// heldBy says in parentheses what holds an object that is being deleted, as far as it is known.
func heldBy(live *unstructured.Unstructured) string {
	if holding := cluster.HeldBy(live); holding != "" {
		return " (" + holding + ")"
	}
	return ""
}
