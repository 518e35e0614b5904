// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// looked are the kinds that golden looks at, in the order of the files.
var looked = []schema.GroupVersionResource{configMaps, secrets, services, deployments, statefulSets}

var statefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}

// golden compares the application's objects in the cluster with testdata/golden/<name>.yaml: what a stage decides of them,
// not what the API and its controllers fill in. more are kinds that are looked at as well.
func (a *app) golden(name string, more ...schema.GroupVersionResource) {
	a.t.Helper()
	var got bytes.Buffer
	for _, gvr := range slices.Concat(looked, more) {
		list, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).List(a.t.Context(), metav1.ListOptions{LabelSelector: "pipecd.dev/application=" + a.id})
		require.NoError(a.t, err)
		slices.SortFunc(list.Items, func(x, y unstructured.Unstructured) int { return strings.Compare(x.GetName(), y.GetName()) })
		for _, o := range list.Items {
			if o.GetDeletionTimestamp() != nil {
				continue
			}
			text, err := yaml.Marshal(decided(o.Object))
			require.NoError(a.t, err)
			got.WriteString("---\n")
			got.Write(text)
		}
	}
	text := strings.NewReplacer(a.namespace, "NAMESPACE").Replace(got.String())
	file := filepath.Join("testdata", "golden", name+".yaml")
	if *updateGolden {
		require.NoError(a.t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(a.t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(a.t, err)
	require.Equal(a.t, string(want), text, "%s; write it anew with -update when that is right", file)
}

// decided is the part of an object that a stage decides.
func decided(o map[string]any) map[string]any {
	kept := map[string]any{}
	for _, path := range [][]string{
		{"apiVersion"},
		{"kind"},
		{"metadata", "name"},
		{"metadata", "namespace"},
		{"metadata", "labels"},
		{"metadata", "annotations"},
		{"data"},
		{"type"},
		{"spec", "type"},
		{"spec", "replicas"},
		{"spec", "serviceName"},
		{"spec", "selector"},
		{"spec", "template", "metadata", "labels"},
		{"spec", "template", "metadata", "annotations"},
		{"spec", "template", "spec", "containers"},
		{"spec", "http"},
		{"spec", "rules"},
	} {
		if value, found, err := unstructured.NestedFieldCopy(o, path...); err == nil && found {
			_ = unstructured.SetNestedField(kept, value, path...)
		}
	}
	unstructured.RemoveNestedField(kept, "metadata", "annotations", "deployment.kubernetes.io/revision")
	containers, _, _ := unstructured.NestedSlice(kept, "spec", "template", "spec", "containers")
	for i := range containers {
		container := containers[i].(map[string]any)
		for key := range container {
			if !slices.Contains([]string{"name", "image", "env", "envFrom"}, key) {
				delete(container, key)
			}
		}
	}
	if containers != nil {
		_ = unstructured.SetNestedSlice(kept, containers, "spec", "template", "spec", "containers")
	}
	return kept
}
