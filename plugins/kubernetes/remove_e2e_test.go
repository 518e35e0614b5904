// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRemoveDeletesWhatTheApplicationHasDeployedAndNothingElse(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"a.yaml": configMap("web"), "b.yaml": configMap("relabelled"),
		"kept.yaml": annotated("kept", `pipecd.dev/prune: "false"`),
	}}
	a.succeeds("K8S_SYNC", "", last, nil)
	maps := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace)
	// An earlier commit left this one behind; only its labels say whose it is.
	earlier := a.get(configMaps, "web").DeepCopy()
	earlier.SetName("earlier")
	earlier.SetResourceVersion("")
	annotations := earlier.GetAnnotations()
	annotations["pipecd.dev/resource-key"] = ":ConfigMap:" + a.namespace + ":earlier"
	earlier.SetAnnotations(annotations)
	_, err := maps.Create(t.Context(), earlier, metav1.CreateOptions{})
	require.NoError(t, err)
	// Someone has taken the labels away; Git says whose it is.
	relabelled := a.get(configMaps, "relabelled").DeepCopy()
	relabelled.SetLabels(nil)
	_, err = maps.Update(t.Context(), relabelled, metav1.UpdateOptions{})
	require.NoError(t, err)
	// Not the application's: without marks, of another application, and a copy by hand.
	theirs := a.get(configMaps, "web").DeepCopy()
	for name, change := range map[string]func(*unstructured.Unstructured){
		"unmarked": func(o *unstructured.Unstructured) { o.SetLabels(nil); o.SetAnnotations(nil) },
		"of-another": func(o *unstructured.Unstructured) {
			o.SetLabels(with(o.GetLabels(), "pipecd.dev/application", "other"))
			o.SetAnnotations(with(o.GetAnnotations(), "pipecd.dev/application", "other"))
		},
		"copy": func(*unstructured.Unstructured) {},
	} {
		o := theirs.DeepCopy()
		o.SetName(name)
		o.SetResourceVersion("")
		change(o)
		_, err := maps.Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
	}

	log := a.succeeds("K8S_REMOVE", "", last, nil)
	for _, name := range []string{"web", "relabelled", "earlier"} {
		a.absent(configMaps, name)
		require.Contains(t, log, name+": deleted")
	}
	require.Contains(t, log, "kept: kept, ")
	require.Contains(t, log, "Removed the application: 3 resources deleted")
	for _, name := range []string{"kept", "unmarked", "of-another", "copy"} {
		a.get(configMaps, name)
	}

	again := a.succeeds("K8S_REMOVE", "", last, nil)
	require.Contains(t, again, "Removed the application: 0 resources deleted", "what is kept stays")
}

func TestARemovalThatWasInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("web"), "b.yaml": configMap("held")}}
	a.succeeds("K8S_SYNC", "", last, nil)
	maps := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace)
	finalizers := func(names ...string) {
		t.Helper()
		o := a.get(configMaps, "held").DeepCopy()
		o.SetFinalizers(names)
		_, err := maps.Update(t.Context(), o, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	finalizers("example.com/hold")
	onceHeld := func(then func()) {
		id := fmt.Sprintf("stage-%d", a.stages+1)
		go func() {
			a.h.Piped.WaitLog(t, id, "held: Terminating, held by finalizers example.com/hold")
			then()
		}()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	onceHeld(cancel)
	a.runIn(ctx, "K8S_REMOVE", "", last, nil)
	a.absent(configMaps, "web")
	onceHeld(func() { finalizers() })
	log := a.succeeds("K8S_REMOVE", "", last, nil)
	a.absent(configMaps, "held")
	require.Contains(t, log, "Removed the application: 1 resource deleted")
	log = a.succeeds("K8S_REMOVE", "", last, nil)
	require.Contains(t, log, "Nothing to delete: the application has no resources")
}

func TestAnApplicationThatComesBackWhileItsRemovalRunsIsNotDeleted(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("web")}}
	a.succeeds("K8S_SYNC", "", last, nil)
	a.h.Piped.SetSharedMetadata("pipedeck/in-git", "bbbbbbbbbbbb")
	log := a.fails("K8S_REMOVE", "", last, nil)
	require.Contains(t, log, "is in Git again at commit bbbbbbb, so that nothing of it is deleted")
	a.get(configMaps, "web")
}

// with is a copy of a map with one more entry.
func with(all map[string]string, key, value string) map[string]string {
	more := map[string]string{key: value}
	for k, v := range all {
		if k != key {
			more[k] = v
		}
	}
	return more
}
