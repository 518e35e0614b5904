// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
)

var (
	claims   = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	accounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	budgets  = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
)

// chartStories are one for each thing that charts do.
var chartStories = []chartStory{
	{
		name:   "hooks",
		pruned: []string{"leaving"},
		deployed: func(s *play, log string) {
			inOrder(s.t, log, "before the rollout: Job "+s.namespace+"/demo-migrate", "Applying 3 manifests",
				"after the rollout: Job "+s.namespace+"/demo-announce")
			s.get(jobs, "demo-seed")
		},
		upgraded: func(s *play, log string) {
			require.Contains(s.t, log, "Not run: Job "+s.namespace+"/demo-seed")
			require.Equal(s.t, "shop:v1", s.image("demo-seed"))
			require.Equal(s.t, "shop:v2", s.image("demo-migrate"))
			require.Equal(s.t, "shop:v2", s.image("demo-announce"))
			require.Equal(s.t, map[string]any{"version": "v2"}, s.data("demo-conf"))
			s.absent(jobs, "demo-save")
		},
		removed: func(s *play, log string) {
			inOrder(s.t, log, "hook before the deletion: Job "+s.namespace+"/demo-save", "Deployment "+s.namespace+
				"/demo-web: deleted", "hook after the deletion: Job "+s.namespace+"/demo-farewell")
		},
	},
	{
		name: "weights",
		deployed: func(s *play, log string) {
			inOrder(s.t, log, "hook before the rollout: ServiceAccount", "hook before the rollout: Job "+s.namespace+
				"/step-low", "hook before the rollout: Job "+s.namespace+"/step-middle",
				"hook before the rollout: Job "+s.namespace+"/step-high")
		},
		upgraded: func(s *play, log string) {
			inOrder(s.t, log, "hook before the rollout: Job "+s.namespace+"/step-high", "hook before the rollout: "+
				"Job "+s.namespace+"/step-low", "Job "+s.namespace+"/step-middle: deleted")
			s.absent(jobs, "step-middle")
			s.get(accounts, "migrator")
		},
	},
	{
		name:   "policies",
		pruned: []string{"leaving"},
		deployed: func(s *play, _ string) {
			s.absent(jobs, "goes-when-done")
			s.absent(configMaps, "settings-of-hooks")
			s.get(jobs, "made-again")
			s.get(jobs, "goes-when-failed")
		},
		upgraded: func(s *play, log string) {
			s.absent(jobs, "goes-when-done")
			s.absent(configMaps, "settings-of-hooks")
			require.Equal(s.t, "shop:v2", s.image("made-again"))
			require.Contains(s.t, log, "Deleting 2 hooks, as their delete policy says")
		},
	},
	{
		name: "tests",
		deployed: func(s *play, _ string) {
			log := s.succeeds("K8S_TEST", "", s.one, nil)
			inOrder(s.t, log, "Running 1 test: Pod "+s.namespace+"/demo-test-connect", "Running 1 test: Pod "+
				s.namespace+"/demo-test-order")
		},
		upgraded: func(s *play, log string) {
			require.Contains(s.t, log, "Pod "+s.namespace+"/demo-test-order: deleted")
			log = s.succeeds("K8S_TEST", "", s.two, s.one)
			require.Contains(s.t, log, "demo-test-connect: the hook ran in an earlier deployment")
			require.NotContains(s.t, log, "demo-test-order")
		},
	},
	{
		name: "crds",
		kept: []string{"CustomResourceDefinition gadgets.GROUP", "CustomResourceDefinition widgets.GROUP"},
		deployed: func(s *play, _ string) {
			// Objects of these kinds that someone else has created.
			for _, kind := range []string{"Widget", "Gadget"} {
				s.create(s.kind(kind), unstructured.Unstructured{Object: map[string]any{
					"apiVersion": s.group + "/v1", "kind": kind, "metadata": map[string]any{"name": "theirs"},
				}})
			}
		},
		upgraded: func(s *play, log string) {
			s.absent(s.kind("Widget"), "leaving")
			require.Contains(s.t, log, "Widget "+s.namespace+"/leaving: deleted")
			require.Equal(s.t, "blue", s.value(s.kind("Gadget"), "gadget", "spec", "colour"))
		},
		removed: func(s *play, log string) {
			require.Contains(s.t, log, "CustomResourceDefinition widgets."+s.group+": kept, because it came from the "+
				"crds/ folder of a chart")
			require.Contains(s.t, log, "CustomResourceDefinition gadgets."+s.group+": kept, because it holds 1 object "+
				"that is not deleted with it: Gadget "+s.namespace+"/theirs")
			s.absent(s.kind("Widget"), "widget")
			s.absent(s.kind("Gadget"), "gadget")
			s.get(s.kind("Widget"), "theirs")
			s.get(s.kind("Gadget"), "theirs")
		},
		after: func(s *play) {
			gadgets := s.live().Dynamic.Resource(s.kind("Gadget")).Namespace(s.namespace)
			require.NoError(s.t, gadgets.Delete(s.t.Context(), "theirs", metav1.DeleteOptions{}))
			log := s.succeeds("K8S_REMOVE", "", s.two, s.two)
			require.Contains(s.t, log, "CustomResourceDefinition gadgets."+s.group+": deleted")
			require.Equal(s.t, []string{"CustomResourceDefinition widgets." + s.group}, remains(s.app))
			s.get(s.kind("Widget"), "theirs")
		},
	},
	{
		name:   "subcharts",
		pruned: []string{"store"},
		deployed: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"size": "10", "region": "north"}, s.data("store"))
			require.Equal(s.t, map[string]any{"size": "2", "region": "north"}, s.data("cache"))
			s.absent(configMaps, "audit")
		},
		upgraded: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"size": "4", "region": "south"}, s.data("cache"))
			require.Equal(s.t, map[string]any{"region": "south"}, s.data("audit"))
			require.Equal(s.t, map[string]any{"region": "south"}, s.data("shop"))
		},
	},
	{
		name:   "lookup",
		pruned: []string{"leaving"},
		deployed: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"version": "v1", "theirs": "b"}, s.data("conf"))
			s.edit(secrets, "password", `{"data": {"password": "Y2hhbmdlZA=="}}`)
		},
		upgraded: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"version": "v2", "theirs": "b"}, s.data("conf"))
			require.Equal(s.t, "Y2hhbmdlZA==", s.value(secrets, "password", "data", "password"))
		},
	},
	{
		name:     "capabilities",
		settings: ", helmOptions: {apiVersions: [added.example.com/v1]}",
		pruned:   []string{"leaving"},
		deployed: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"deployments": "true", "added": "true", "unknown": "false",
				"recent": "true"}, s.data("conf"))
			require.EqualValues(s.t, 1, s.value(budgets, "budget", "spec", "maxUnavailable"))
		},
		upgraded: func(s *play, _ string) {
			require.EqualValues(s.t, 2, s.value(budgets, "budget", "spec", "maxUnavailable"))
		},
	},
	{
		name: "values",
		settings: ", helmOptions: {valueFiles: [base.yaml, prod.yaml], setValues: {owner: inline}, " +
			"setFiles: {motd: motd.txt}}",
		pruned: []string{"queue-bills"},
		deployed: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"colour": "blue", "level": "high", "owner": "inline",
				"motd": "Good morning"}, s.data("conf"))
			require.Equal(s.t, map[string]any{"size": "9"}, s.data("queue-mail"))
			require.Equal(s.t, map[string]any{"size": "2"}, s.data("queue-bills"))
		},
		upgraded: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"colour": "blue", "level": "highest", "owner": "inline",
				"motd": "Good evening"}, s.data("conf"))
			require.Equal(s.t, map[string]any{"size": "10"}, s.data("queue-mail"))
		},
	},
	{
		name:   "keep",
		pruned: []string{"leaving"},
		kept:   []string{"PersistentVolumeClaim uploads", "Secret certificate", "Secret leaving-kept"},
		upgraded: func(s *play, log string) {
			require.Contains(s.t, log, "Secret "+s.namespace+"/leaving-kept: kept, because of its annotation "+
				"helm.sh/resource-policy: keep")
			require.Equal(s.t, "store:v2", s.containers(statefulSets, "store"))
		},
		removed: func(s *play, log string) {
			require.Contains(s.t, log, "PersistentVolumeClaim "+s.namespace+"/uploads: kept")
			s.absent(statefulSets, "store")
			require.Nil(s.t, s.get(claims, "data-store-0").GetDeletionTimestamp())
			require.Nil(s.t, s.get(claims, "uploads").GetDeletionTimestamp())
		},
	},
	{
		name:   "library",
		pruned: []string{"leaving"},
		deployed: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"colour": "red"}, s.data("front"))
			require.Equal(s.t, "shop", s.get(configMaps, "front").GetLabels()["made-by"])
		},
		upgraded: func(s *play, _ string) {
			require.Equal(s.t, map[string]any{"colour": "RED"}, s.data("front"))
			require.Equal(s.t, "2", s.get(configMaps, "front").GetLabels()["parts"])
		},
	},
	{
		name:     "schema",
		settings: ", helmOptions: {valueFiles: [prod.yaml]}",
		pruned:   []string{"leaving"},
		deployed: func(s *play, _ string) {
			require.EqualValues(s.t, 2, s.value(deployments, "demo-web", "spec", "replicas"))
			s.refused()
		},
		upgraded: func(s *play, _ string) {
			require.EqualValues(s.t, 3, s.value(deployments, "demo-web", "spec", "replicas"))
		},
	},
}

// refused plans commits with values that the schema refuses.
func (s *play) refused() {
	s.t.Helper()
	for prod, want := range map[string]string{
		"version: v1\nreplicas: many\n":    "prod.yaml:2: replicas: got string, want integer",
		"limits:\n  cpu: 1\n  disk: big\n": "prod.yaml:3: limits.disk: ",
		"version: null\n":                  "version: missing property",
	} {
		wrong := at("ccccccc1", s.two)
		wrong.Files["prod.yaml"] = prod
		_, err := s.h.Deployment.DetermineVersions(s.t.Context(), &deployment.DetermineVersionsRequest{
			Input: planInput(s.h, nil, s.source(wrong))})
		require.ErrorContains(s.t, err, want)
		require.NotContains(s.t, err.Error(), "many", "no value is shown")
	}
}

// image is that of a Job.
func (s *play) image(job string) any {
	s.t.Helper()
	return s.containers(jobs, job)
}

// containers is the image of the first container.
func (s *play) containers(gvr schema.GroupVersionResource, name string) any {
	s.t.Helper()
	containers, is := s.value(gvr, name, "spec", "template", "spec", "containers").([]any)
	require.True(s.t, is)
	return containers[0].(map[string]any)["image"]
}

// kind is the resource of a kind of the story's own.
func (s *play) kind(kind string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: s.group, Version: "v1", Resource: strings.ToLower(kind) + "s"}
}

// create creates an object in the namespace, as someone would by hand.
func (s *play) create(gvr schema.GroupVersionResource, o unstructured.Unstructured) {
	s.t.Helper()
	_, err := s.live().Dynamic.Resource(gvr).Namespace(s.namespace).Create(s.t.Context(), &o, metav1.CreateOptions{})
	require.NoError(s.t, err)
}
