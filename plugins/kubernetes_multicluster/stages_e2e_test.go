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

// deploymentYAML is a workload whose Service can select a variant.
func deploymentYAML(image string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web, pipecd.dev/variant: primary}}
  template:
    metadata: {labels: {app: web, pipecd.dev/variant: primary}}
    spec: {containers: [{name: main, image: "%s"}]}
`, image)
}

func TestEachTargetGetsItsOwnManifests(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo", labels: map[string]string{"region": "asia"}},
		fleetTarget{name: "london"}, fleetTarget{name: "lima"})
	f.plugin = "{input: {multiTargets: [{target: {labels: {region: asia}}, manifests: [asia]}, " +
		"{target: {name: london}, kustomizeDir: overlays/london}]}}"
	files := map[string]string{
		"asia/a.yaml": configMap("shared"), "asia/b.yaml": configMap("asian"),
		"overlays/london/kustomization.yaml": "namePrefix: ldn-\nresources: [../../base]\n",
		"base/kustomization.yaml":            "resources: [a.yaml]\n", "base/a.yaml": configMap("shared"),
	}
	one := &commit{Hash: "aaaaaaa1", Files: files}
	log, metadata := f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	require.Contains(t, log, "Not deployed to: lima")
	require.Contains(t, log, "[tokyo] Loaded 2 manifests")
	require.Contains(t, log, "[london] Loaded 1 manifest")
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "Deploy target london: done")
	require.Equal(t, "2 of 2 deploy targets", metadata["pipecd/stage-display-metadata"])
	require.Equal(t, "SUCCESS", results(t, metadata)["london"].Status)
	f.has("tokyo", configMaps, "asian")
	require.Equal(t, "london", f.has("london", configMaps, "ldn-shared").GetAnnotations()["pipedeck.dev/deploy-target"])
	f.hasNot("london", configMaps, "asian")
	f.hasNot("lima", configMaps, "shared")

	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{}}
	for name, text := range files {
		if name != "asia/b.yaml" {
			two.Files[name] = text
		}
	}
	log, _ = f.succeeds("K8S_MULTI_SYNC", `{"prune": true}`, two, one)
	require.Contains(t, log, "[tokyo] Pruned 1 resource")
	require.Contains(t, log, "[london] Nothing to prune")
	f.hasNot("tokyo", configMaps, "asian")
	f.has("tokyo", configMaps, "shared")
	f.has("london", configMaps, "ldn-shared")
	f.golden("sync", "tokyo", "london", "lima")
}

func TestAPipelineGoesThroughTheTargets(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	f.pipeline = `  pipeline:
    stages:
      - {name: K8S_MULTI_CANARY_ROLLOUT, with: {multiTargets: [tokyo]}}
      - {name: K8S_MULTI_BASELINE_ROLLOUT, with: {multiTargets: [tokyo]}}
      - {name: K8S_MULTI_TRAFFIC_ROUTING, with: {all: canary, multiTargets: [tokyo]}}
      - {name: K8S_MULTI_PRIMARY_ROLLOUT}
      - {name: K8S_MULTI_TRAFFIC_ROUTING, with: {all: primary, multiTargets: [tokyo]}}
      - {name: K8S_MULTI_BASELINE_CLEAN}
      - {name: K8S_MULTI_CANARY_CLEAN}
`
	files := func(image string) map[string]string {
		return map[string]string{"d.yaml": deploymentYAML(image), "s.yaml": serviceYAML}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	selects := func(target string) string {
		value, _, _ := unstructured.NestedString(f.has(target, services, "web").Object, "spec", "selector",
			"pipecd.dev/variant")
		return value
	}

	f.created = time.Now()
	log, _ := f.succeeds("K8S_MULTI_CANARY_ROLLOUT", `{"multiTargets": ["tokyo"]}`, two, one)
	require.Contains(t, log, "[tokyo] The canary variant has")
	require.NotContains(t, log, "london")
	f.succeeds("K8S_MULTI_BASELINE_ROLLOUT", `{"multiTargets": ["tokyo"]}`, two, one)
	f.golden("variants", "tokyo", "london")
	require.Equal(t, "app:v1", f.image("tokyo", "web-baseline"))
	_, metadata := f.succeeds("K8S_MULTI_TRAFFIC_ROUTING", `{"all": "canary", "multiTargets": ["tokyo"]}`, two, one)
	require.Equal(t, "canary 100% at 1 of 1 deploy targets", metadata["pipecd/stage-display-metadata"])
	f.golden("traffic", "tokyo", "london")
	require.Equal(t, "canary", selects("tokyo"))
	require.Equal(t, "primary", selects("london"))
	f.hasNot("london", deployments, "web-canary")

	log, _ = f.succeeds("K8S_MULTI_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	require.Contains(t, log, "until the next K8S_MULTI_TRAFFIC_ROUTING")
	require.Equal(t, "canary", selects("tokyo"), "until the next stage for traffic\n"+log)
	require.Equal(t, "primary", selects("london"))
	require.Equal(t, "app:v2", f.image("tokyo", "web"))
	require.Equal(t, "app:v2", f.image("london", "web"))
	f.golden("primary", "tokyo", "london")
	f.succeeds("K8S_MULTI_TRAFFIC_ROUTING", `{"all": "primary", "multiTargets": ["tokyo"]}`, two, one)
	f.succeeds("K8S_MULTI_BASELINE_CLEAN", "{}", two, one)
	f.succeeds("K8S_MULTI_CANARY_CLEAN", "{}", two, one)
	f.hasNot("tokyo", deployments, "web-canary")
	f.hasNot("tokyo", deployments, "web-baseline")
	require.Equal(t, "primary", selects("tokyo"))
	f.golden("clean", "tokyo", "london")
}

func TestARollbackGoesToTheTargetsThatWereChanged(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": deploymentYAML("app:v1")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"d.yaml": deploymentYAML("registry.invalid/x:1"),
		"n.yaml": configMap("added")}}
	log, _ := f.fails("K8S_MULTI_SYNC", `{"multiTargets": ["tokyo"]}`, two, nil)
	require.Contains(t, log, "Deploy target tokyo: failed\n")
	log, metadata := f.succeeds("K8S_MULTI_ROLLBACK", "", two, nil)
	require.Contains(t, log, "Deploy target london: nothing to roll back, no stage has changed it")
	require.Contains(t, log, "[tokyo] The application has never been deployed successfully")
	require.Equal(t, "SUCCESS", results(t, metadata)["tokyo"].Status)
	require.NotContains(t, results(t, metadata), "london")
	f.hasNot("tokyo", deployments, "web")
	f.hasNot("tokyo", configMaps, "added")

	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.created = time.Now()
	log, metadata = f.fails("K8S_MULTI_PRIMARY_ROLLOUT", "{}", two, one)
	require.Contains(t, log, "2 of 2 deploy targets failed")
	require.Equal(t, "FAILURE", results(t, metadata)["tokyo"].Status)
	f.succeeds("K8S_MULTI_ROLLBACK", "", two, one)
	for _, target := range []string{"tokyo", "london"} {
		require.Equal(t, "app:v1", f.image(target, "web"))
		f.hasNot(target, configMaps, "added")
	}
	f.golden("rollback", "tokyo", "london")
}

func TestEachTargetRendersAChartWithItsOwnCluster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	f.plugin = "{input: {failureGrace: 300ms, rolloutTimeout: 60s, helmChart: {path: chart}}}"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}",
		"chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: seen}\n" +
			`data: {ns: "{{ .Release.Namespace }}", uid: ` +
			`"{{ (lookup "v1" "Namespace" "" .Release.Namespace).metadata.uid }}"}` + "\n",
	}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	for _, target := range []string{"tokyo", "london"} {
		namespace, err := f.client.Dynamic.Resource(namespaces).Get(t.Context(), f.namespace(target),
			metav1.GetOptions{})
		require.NoError(t, err)
		data, _, _ := unstructured.NestedStringMap(f.has(target, configMaps, "seen").Object, "data")
		require.Equal(t, map[string]string{"ns": f.namespace(target), "uid": string(namespace.GetUID())}, data)
	}
}
