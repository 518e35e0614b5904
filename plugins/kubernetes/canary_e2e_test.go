// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestACanaryRunsNextToThePrimaryAndGoesAgain(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := func(image, value string) map[string]string {
		return map[string]string{"d.yaml": deploymentYAML("web", image, 4, ""), "s.yaml": serviceYAML,
			"c.yaml": configMap("conf", "v: '"+value+"'")}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1", "1")}, &commit{Hash: "aaaaaaa2",
		Files: files("app:v2", "2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.golden("sync")

	patch := `{"target": {"kind": "Deployment", "name": "web"}, "ops": [
		{"op": "json-patch", "value": [{"op": "add", "path": "/spec/template/metadata/annotations",
			"value": {"example.com/a": "b"}}]},
		{"op": "strategic-merge", "value": {"spec": {"template": {"spec": {"containers": [{"name": "main",
			"env": [{"name": "CANARY", "value": "1"}]}]}}}}}]}`
	log := a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "50%", "createService": true, "patches": [`+patch+`]}`, two,
		one)
	require.Contains(t, log, "2 of 2 ready")
	a.golden("canary")
	canary := a.get(deployments, "web-canary")
	selector, _, _ := unstructured.NestedStringMap(canary.Object, "spec", "selector", "matchLabels")
	require.Equal(t, map[string]string{"app": "web", "pipecd.dev/variant": "canary"}, selector)
	require.Equal(t, "canary", canary.GetLabels()["pipecd.dev/variant"])
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf-canary").Object, "data")
	require.Equal(t, "2", data["v"])
	data, _, _ = unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, "1", data["v"], "the primary's configuration is left alone")
	a.get(services, "web-canary")

	a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true, "createService": true}`, two, one)
	a.golden("primary")
	a.get(deployments, "web-canary") // pruning the primary leaves the canary alone
	log = a.succeeds("K8S_CANARY_CLEAN", "{}", two, one)
	require.Contains(t, log, "3 resources deleted")
	a.absent(deployments, "web-canary")
	a.absent(configMaps, "conf-canary")
	a.absent(services, "web-canary")
	a.golden("canary-clean")
	a.succeeds("K8S_CANARY_CLEAN", "{}", two, one)
}

func TestABaselineIsACopyOfWhatRuns(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := func(image string) map[string]string {
		return map[string]string{"d.yaml": deploymentYAML("web", image, 4, ""), "s.yaml": serviceYAML,
			"c.yaml": configMap("conf", "v: a")}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.succeeds("K8S_CANARY_ROLLOUT", `{}`, two, one)
	log := a.succeeds("K8S_BASELINE_ROLLOUT", `{"replicas": "50%", "createService": true}`, two, one)
	require.Contains(t, log, "2 of 2 ready")
	a.golden("baseline")
	baseline := a.get(deployments, "web-baseline")
	containers, _, _ := unstructured.NestedSlice(baseline.Object, "spec", "template", "spec", "containers")
	require.Equal(t, "app:v1", containers[0].(map[string]any)["image"])
	require.Equal(t, "baseline", baseline.GetLabels()["pipecd.dev/variant"])
	require.Equal(t, one.Hash, baseline.GetLabels()["pipecd.dev/commit-hash"])
	selector, _, _ := unstructured.NestedStringMap(a.get(services, "web-baseline").Object, "spec", "selector")
	require.Equal(t, map[string]string{"app": "web", "pipecd.dev/variant": "baseline"}, selector)
	a.absent(configMaps, "conf-baseline")

	a.succeeds("K8S_PRIMARY_ROLLOUT", `{"prune": true}`, two, one)
	a.get(deployments, "web-baseline") // pruning the primary leaves the baseline alone
	log = a.succeeds("K8S_BASELINE_CLEAN", "{}", two, one)
	require.Contains(t, log, "2 resources deleted")
	a.absent(deployments, "web-baseline")
	a.absent(services, "web-baseline")
	a.golden("baseline-clean")

	a.succeeds("K8S_BASELINE_ROLLOUT", `{}`, two, one)
	a.succeeds("K8S_ROLLBACK", "", two, one)
	a.absent(deployments, "web-baseline")
	a.absent(deployments, "web-canary")
	a.golden("rollback")
}

func TestARollbackRestoresTheRunningCommitAndRemovesWhatWasAdded(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": deploymentYAML("web", "app:v1", 2, ""),
		"old.yaml": configMap("leftover")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	now := &commit{Hash: "aaaaaaa2", Files: map[string]string{"d.yaml": deploymentYAML("web", "app:v1", 2, "")}}
	a.succeeds("K8S_SYNC", "", now, one)

	a.nextDeployment()
	bad := &commit{Hash: "aaaaaaa3", Files: map[string]string{"d.yaml": deploymentYAML("web", "registry.invalid/x:1", 2,
		""), "n.yaml": configMap("added")}}
	a.succeeds("K8S_CANARY_ROLLOUT", `{}`, &commit{Hash: bad.Hash,
		Files: map[string]string{"d.yaml": deploymentYAML("web", "app:v3", 2, "")}}, now)
	a.fails("K8S_PRIMARY_ROLLOUT", "{}", bad, now)
	a.get(configMaps, "added")
	log := a.succeeds("K8S_ROLLBACK", "", bad, now)
	t.Log(log)
	containers, _, _ := unstructured.NestedSlice(a.get(deployments, "web").Object, "spec", "template", "spec",
		"containers")
	require.Equal(t, "app:v1", containers[0].(map[string]any)["image"])
	a.absent(configMaps, "added")
	a.absent(deployments, "web-canary")
	a.get(configMaps, "leftover") // nothing of the failed deployment
}

func TestARollbackOfTheFirstDeploymentRemovesOnlyWhatItCreated(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("older")}}, nil)
	a.nextDeployment()
	bad := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("older", "a: b"),
		"d.yaml": deploymentYAML("web", "registry.invalid/x:1", 1, "")}}
	a.fails("K8S_SYNC", "", bad, nil)
	log := a.succeeds("K8S_ROLLBACK", "", bad, nil)
	require.Contains(t, log, "ConfigMap "+a.namespace+"/older: is kept, since it was there before this "+
		"deployment applied it")
	require.Contains(t, log, "Removed 1 resource that")
	a.get(configMaps, "older")
	a.absent(deployments, "web")
}
