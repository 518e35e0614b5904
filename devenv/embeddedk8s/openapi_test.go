// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

const lampDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Lamp, plural: lamps}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {watts: {type: integer}}}
`

// testOpenAPI checks what `kubectl explain` and clients that check manifests read.
func testOpenAPI(t *testing.T, server *process, client kubernetes.Interface) {
	t.Parallel()
	documents := func() map[string]string {
		paths, err := client.Discovery().OpenAPIV3().Paths()
		require.NoError(t, err)
		all := map[string]string{}
		for name, document := range paths {
			schema, err := document.Schema("application/json")
			if err != nil { // the list is merged a moment later
				continue
			}
			all[name] = string(schema)
		}
		return all
	}
	before := documents()
	require.Contains(t, before["api/v1"], "io.k8s.api.core.v1.PodSpec")
	require.Contains(t, before["apis/apps/v1"], "io.k8s.api.apps.v1.Deployment")
	require.Contains(t, before, "apis/apiregistration.k8s.io/v1", "the server in front of the chain has its own")
	require.NotContains(t, before, "apis/example.com/v1")

	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(lampDefinition), &definition.Object))
	definitions := server.objects(t).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	_, err := definitions.Create(t.Context(), definition, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, "the new kind has a document", func() bool {
		paths, err := client.Discovery().OpenAPIV3().Paths()
		require.NoError(t, err)
		document, ok := paths["apis/example.com/v1"]
		if !ok {
			return false
		}
		schema, err := document.Schema("application/json")
		return err == nil && len(schema) > 0
	})
	after := documents()
	require.Contains(t, after["apis/example.com/v1"], "watts")
	for name := range before {
		require.Contains(t, after, name)
	}

	require.NoError(t, definitions.Delete(t.Context(), "lamps.example.com", metav1.DeleteOptions{}))
	eventually(t, "its document has gone", func() bool {
		paths, err := client.Discovery().OpenAPIV3().Paths()
		require.NoError(t, err)
		return paths["apis/example.com/v1"] == nil
	})
}
