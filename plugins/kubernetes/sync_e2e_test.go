// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestASyncAppliesEverythingAndWaitsUntilItIsReady(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"deployment.yaml": deploymentYAML("web", "app:v1", 3, ""), "service.yaml": serviceYAML,
		"conf.yaml": configMap("conf", "n: y", "v: '1'"),
	}}
	log := a.succeeds("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "3 of 3 ready")
	require.Contains(t, log, "Simulated, so no container of these has run: Deployment "+a.namespace+"/web")

	live := a.get(deployments, "web")
	ready, _, _ := unstructured.NestedInt64(live.Object, "status", "readyReplicas")
	require.EqualValues(t, 3, ready)
	require.Equal(t, a.id, live.GetLabels()["pipecd.dev/application"])
	require.Equal(t, "aaaaaaa1", live.GetLabels()["pipecd.dev/commit-hash"])
	require.Equal(t, "primary", live.GetLabels()["pipecd.dev/variant"])
	require.Equal(t, "apps:Deployment:"+a.namespace+":web", live.GetAnnotations()["pipecd.dev/resource-key"])
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"n": "y", "v": "1"}, data)

	start := time.Now()
	a.succeeds("K8S_SYNC", "", c, c)
	t.Logf("nothing to change: %s", time.Since(start))
}

func TestASyncRemovesWhatLeftGitOnlyWithPrune(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("kept"),
		"b.yaml": configMap("dropped"), "s.yaml": serviceYAML}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("kept")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	a.succeeds("K8S_SYNC", "", after, before)
	a.get(configMaps, "dropped")
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, after, before)
	require.Contains(t, log, "Pruned 2 resources")
	a.absent(configMaps, "dropped")
	a.absent(services, "web")
	a.get(configMaps, "kept")
}

func TestAHundredConfigMapsAreAppliedQuickly(t *testing.T) {
	a := newApp(t)
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("c%d.yaml", i)] = configMap(fmt.Sprintf("c%d", i), "a: b")
	}
	start := time.Now()
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: files}, nil)
	t.Logf("100 ConfigMaps: %s", time.Since(start))
	start = time.Now()
	a.succeeds("K8S_SYNC", `{"prune": true}`, &commit{Hash: "aaaaaaa1", Files: files}, nil)
	t.Logf("100 ConfigMaps again, with prune: %s", time.Since(start))
	require.Less(t, time.Since(start), 30*time.Second)
}

func TestAFieldThatVanishesFromGitVanishesFromTheCluster(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf", "a: b", "c: d")}}
	after := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("conf", "a: b")}}
	a.succeeds("K8S_SYNC", "", before, nil)
	a.succeeds("K8S_SYNC", "", after, before)
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"a": "b"}, data)
}

func TestACustomResourceIsAppliedTogetherWithItsDefinition(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	group := fmt.Sprintf("g%d.example.com", time.Now().UnixNano())
	files := map[string]string{
		"a-thing.yaml": "apiVersion: " + group + "/v1\nkind: Thing\nmetadata: {name: one}\nspec: {size: 3}\n",
		"b-crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
`,
	}
	log := a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: files}, nil)
	require.Contains(t, log, "Thing "+a.namespace+"/one: created")
	a.created = time.Now().Add(-time.Minute)
	a.succeeds("K8S_ROLLBACK", "", &commit{Hash: "aaaaaaa1", Files: files}, nil)
}

func TestAnAnnotationMakesASyncReplace(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	with := func(annotation, label string) *commit {
		return &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {` + annotation + `}}
spec:
  selector: {matchLabels: {app: ` + label + `}}
  template:
    metadata: {labels: {app: ` + label + `}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`}}
	}
	a.succeeds("K8S_SYNC", "", with("", "one"), nil)
	first := a.get(deployments, "web").GetUID()
	log := a.fails("K8S_SYNC", "", with("", "two"), nil)
	require.Contains(t, log, "pipecd.dev/force-sync-by-replace")
	require.Contains(t, log, "d.yaml:")
	log = a.succeeds("K8S_SYNC", "", with("pipecd.dev/sync-by-replace: enabled", "one"), nil)
	require.Contains(t, log, "replaced")
	require.Equal(t, first, a.get(deployments, "web").GetUID())
	log = a.succeeds("K8S_SYNC", "", with("pipecd.dev/force-sync-by-replace: enabled", "two"), nil)
	require.Contains(t, log, "created again")
	require.NotEqual(t, first, a.get(deployments, "web").GetUID())
}

func TestWhatWasReplacedIsAppliedAgainLater(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	replaced := "apiVersion: v1\nkind: ConfigMap\n" +
		"metadata: {name: conf, annotations: {pipecd.dev/sync-by-replace: enabled}}\ndata: {a: b, c: d}\n"
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": replaced}}, nil)
	log := a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa2",
		Files: map[string]string{"c.yaml": configMap("conf", "a: b")}}, nil)
	require.NotContains(t, log, "kubectl")
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"a": "b"}, data)
}

func TestAStageThatDoesNotWaitEndsWhenTheAPIHasTakenTheManifests(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = "autoCreateNamespace: true, waitReady: false"
	log := a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"d.yaml": deploymentYAML("web", "app:v1", 1, "pipedeck.dev/simulate: never-ready")}}, nil)
	require.Contains(t, log, "Not waiting for 1 workload to be ready (input.waitReady: false)")
}

func TestFieldsOfKubectlApplyAreTakenOver(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	// makes the namespace
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("other")}}, nil)
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "conf", "namespace": a.namespace},
		"data": map[string]any{"kept": "1", "dropped": "2"},
	}}
	r := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace)
	_, err := r.Create(t.Context(), live, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
	require.NoError(t, err)
	c := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("conf", "kept: '3'")}}
	log := a.succeeds("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "taken over from kubectl apply")
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"kept": "3"}, data)
	log = a.succeeds("K8S_SYNC", "", c, nil)
	require.NotContains(t, log, "taken over")
}

func TestGitWinsOverAChangeMadeInTheCluster(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf", "a: b")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	live := a.get(configMaps, "conf")
	require.NoError(t, unstructured.SetNestedField(live.Object, "edited", "data", "a"))
	_, err := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Update(t.Context(), live,
		metav1.UpdateOptions{FieldManager: "someone"})
	require.NoError(t, err)
	a.succeeds("K8S_SYNC", "", c, nil)
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"a": "b"}, data)
}
