// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package goldentest compares what stages make of an application's objects in a cluster with files.
package goldentest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Objects writes an application's objects of some kinds in a namespace, in the order of the kinds and by name: what a
// stage decides of them, not what the API and its controllers fill in. The namespace is written as NAMESPACE.
func Objects(t testing.TB, c *cluster.Client, namespace, applicationID string,
	kinds ...schema.GroupVersionResource) string {
	t.Helper()
	var got bytes.Buffer
	for _, gvr := range kinds {
		list, err := c.Dynamic.Resource(gvr).Namespace(namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: "pipecd.dev/application=" + applicationID})
		require.NoError(t, err)
		slices.SortFunc(list.Items, func(x, y unstructured.Unstructured) int {
			return strings.Compare(x.GetName(),
				y.GetName())
		})
		for _, o := range list.Items {
			if o.GetDeletionTimestamp() != nil {
				continue
			}
			text, err := manifest.Text(decided(o.Object))
			require.NoError(t, err)
			got.WriteString("---\n" + text)
		}
	}
	return strings.ReplaceAll(got.String(), namespace, "NAMESPACE")
}

// Compare compares a text with testdata/golden/<name>.yaml, which update writes again.
func Compare(t testing.TB, name, text string, update bool) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".yaml")
	if update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "%s; write it again with -update when that is right", file)
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
