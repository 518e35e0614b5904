// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"net/http"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writes notes the objects that a plugin patches.
type writes struct {
	mu    sync.Mutex
	names []string
}

func (w *writes) in(proxy http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPatch {
			w.mu.Lock()
			w.names = append(w.names, path.Base(req.URL.Path))
			w.mu.Unlock()
		}
		proxy.ServeHTTP(rw, req)
	})
}

// taken returns the names of the patched objects since the last call, each once.
func (w *writes) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.Compact(slices.Sorted(slices.Values(w.names)))
	w.names = nil
	return names
}

func TestWhatHasNotChangedIsNotSentAgain(t *testing.T) {
	t.Parallel()
	var w writes
	a, c := newAppAt(t, inFront(t, w.in)), webCommit()
	a.succeeds("K8S_SYNC", "", c, nil)
	require.Equal(t, []string{"conf", "keys", "web"}, w.taken())
	a.succeeds("K8S_SYNC", "", c, c) // the Deployment's controller has written its annotation meanwhile
	w.taken()
	require.Contains(t, a.succeeds("K8S_SYNC", "", c, c), "4 unchanged")
	require.Empty(t, w.taken())

	edits := map[string]struct {
		edit func()
		sent string
		held func() any
		want any
	}{
		"data of a ConfigMap": {
			edit: func() { a.edit(configMaps, "conf", `{"data":{"color":"red"}}`) }, sent: "conf",
			held: field(a, configMaps, "conf", "data", "color"), want: "blue",
		},
		"a label that Git sets": {
			edit: func() {
				a.edit(secrets, "keys", `{"metadata":{"labels":{"pipecd.dev/variant":"canary"}}}`)
			}, sent: "keys",
			held: field(a, secrets, "keys", "metadata", "labels", "pipecd.dev/variant"), want: "primary",
		},
		"replicas by the subresource": {
			edit: func() { a.edit(deployments, "web", `{"spec":{"replicas":3}}`, "scale", "kubectl") }, sent: "web",
			held: field(a, deployments, "web", "spec", "replicas"), want: int64(2),
		},
		"an object that was deleted": {
			edit: func() {
				require.NoError(t, a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Delete(t.Context(),
					"conf", metav1.DeleteOptions{}))
			}, sent: "conf",
			held: field(a, configMaps, "conf", "data", "color"), want: "blue",
		},
		"an annotation of another user": {
			edit: func() { a.edit(configMaps, "conf", `{"metadata":{"annotations":{"theirs":"1"}}}`) }, sent: "conf",
			held: field(a, configMaps, "conf", "metadata", "annotations", "theirs"), want: "1",
		},
	}
	for name, e := range edits {
		e.edit()
		a.succeeds("K8S_SYNC", "", c, c)
		require.Equal(t, []string{e.sent}, w.taken(), name)
		require.Equal(t, e.want, e.held(), name)
		a.succeeds("K8S_SYNC", "", c, c) // again the controller
		w.taken()
	}

	next := webCommit()
	next.Files["conf.yaml"] = configMap("conf", "color: green")
	a.succeeds("K8S_SYNC", "", next, c)
	require.Equal(t, []string{"conf", "web"}, w.taken(), "the Deployment has the hash of the ConfigMap")
	require.Equal(t, "green", field(a, configMaps, "conf", "data", "color")())
	a.succeeds("K8S_SYNC", "", c, next)
	require.Equal(t, []string{"conf", "web"}, w.taken(), "back again")
	require.Equal(t, "blue", field(a, configMaps, "conf", "data", "color")())
}

// field returns what reads a field of a live object.
func field(a *app, gvr schema.GroupVersionResource, name string, fields ...string) func() any {
	return func() any {
		value, found, err := unstructured.NestedFieldNoCopy(a.get(gvr, name).Object, fields...)
		require.NoError(a.t, err)
		require.True(a.t, found)
		return value
	}
}
