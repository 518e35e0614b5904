// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACanaryDoesNotTakeTheObjectsOfOthers(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := map[string]string{"d.yaml": deploymentYAML("web", "app:v1", 1, ""), "s.yaml": serviceYAML}
	one := &commit{Hash: "aaaaaaa1", Files: files}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.create(services, `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web-canary"},
		"spec": {"selector": {"app": "mine"}, "ports": [{"port": 80}]}}`)
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"d.yaml": deploymentYAML("web", "app:v2", 1, ""),
		"s.yaml": serviceYAML}}
	log := a.fails("K8S_CANARY_ROLLOUT", `{"createService": true}`, two, one)
	require.Contains(t, log, "Service "+a.namespace+"/web-canary exists and is not part of the canary variant: piped "+
		"has not created it")
	require.Contains(t, log, "next step: rename it, or give the copies other names with the option suffix")
	a.absent(deployments, "web-canary")
	a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Nil(t, a.get(services, "web-canary").GetLabels(), "it is as it was")

	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true, "suffix": "trial"}`, two, one)
	a.succeeds("K8S_CANARY_ROLLOUT", `{"createService": true, "suffix": "trial"}`, two, one)
	a.succeeds("K8S_CANARY_CLEAN", "{}", two, one)
	a.absent(services, "web-trial")
	a.get(services, "web-canary")
}

func TestACanaryDoesNotTakeAnObjectOfThePrimary(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"d.yaml": deploymentYAML("web", "app:v1", 1, ""),
		"c.yaml": deploymentYAML("web-canary", "app:v1", 1, "")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	log := a.fails("K8S_CANARY_ROLLOUT", `{}`, one, one)
	require.Contains(t, log, "Deployment "+a.namespace+"/web-canary exists and is not part of the canary variant: it "+
		"belongs to the primary of this application")
}

func TestAHookDoesNotEndTheJobOfAnother(t *testing.T) {
	t.Parallel()
	a, at := hooked(t, "pre-install,pre-upgrade")
	job := `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "demo-migrate"}, "spec": {"suspend": true,
		"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "mine"}]}}}}`
	a.makeNamespace()
	uid := string(a.create(jobs, job).GetUID())
	log := a.fails("K8S_SYNC", "", at("aaaaaaa1", "app:v1"), nil)
	require.Contains(t, log, "the hook Job "+a.namespace+"/demo-migrate does not run, because an object of its name "+
		"exists that is no hook, and piped has not created it")
	require.Contains(t, log, "next step: rename the hook")
	still, _ := a.migration()
	require.Equal(t, uid, still)

	a.edit(jobs, "demo-migrate", `{"metadata": {"annotations": {"pipecd.dev/application": "another"}}}`)
	log = a.fails("K8S_SYNC", "", at("aaaaaaa1", "app:v1"), nil)
	require.Contains(t, log, "exists that belongs to the application another")

	a.edit(jobs, "demo-migrate", `{"metadata": {"annotations": {"pipecd.dev/application": null,
		"helm.sh/hook": "pre-install"}}}`)
	a.succeeds("K8S_SYNC", "", at("aaaaaaa1", "app:v1"), nil)
	replaced, _ := a.migration()
	require.NotEqual(t, uid, replaced, "what helm has left is replaced")
}

func TestAHookThatIsAppliedInPlaceDoesNotTakeTheObjectOfAnother(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	a.create(configMaps, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "login"},
		"data": {"by": "hand"}}`)
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"login.yaml": annotated("login",
		"helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-succeeded")}}, nil)
	require.Contains(t, log, "exists that is no hook, and piped has not created it")
	require.Equal(t, "hand", a.get(configMaps, "login").Object["data"].(map[string]any)["by"])
}

func TestWhatARollbackKeepsIsNotPrunedLater(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("conf")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.create(configMaps, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "precious"},
		"data": {"by": "hand"}}`)
	a.nextDeployment()
	bad := &commit{Hash: "aaaaaaa2", Files: map[string]string{"c.yaml": configMap("conf"),
		"p.yaml": configMap("precious", "v: '1'"), "d.yaml": deploymentYAML("web", "registry.invalid/x:1", 1, "")}}
	a.fails("K8S_SYNC", "", bad, one)
	log := a.succeeds("K8S_ROLLBACK", "", bad, one)
	require.Contains(t, log, "precious: is kept, since it was there before this deployment applied it; it is not part "+
		"of the application")
	require.Contains(t, log, "keep that commit's values, because what they were before is not known")
	require.Contains(t, log, "next step: set its former values again: kubectl edit configmap/precious -n "+a.namespace)
	kept := a.get(configMaps, "precious")
	require.Empty(t, kept.GetLabels())
	require.Empty(t, kept.GetAnnotations())
	a.nextDeployment()
	next := &commit{Hash: "aaaaaaa3", Files: map[string]string{"c.yaml": configMap("conf", "v: '2'")}}
	a.succeeds("K8S_SYNC", `{"prune": true}`, next, one)
	require.Equal(t, "hand", a.get(configMaps, "precious").Object["data"].(map[string]any)["by"])
}
