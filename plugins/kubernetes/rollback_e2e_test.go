// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
)

// blueGreen is an application whose traffic is on the canary of a second commit, the primary of which has just failed:
// none of its pods is left.
func blueGreen(t *testing.T) (a *app, at func(hash, image, pods string) *commit) {
	t.Helper()
	a = newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {all: " +
		"canary}}, {name: K8S_PRIMARY_ROLLOUT}, {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}]}\n"
	at = func(hash, image, pods string) *commit {
		deployment := strings.Replace(variantLabelled(image), "  replicas: 2\n",
			"  replicas: 2\n  strategy: {type: Recreate}\n", 1)
		return &commit{Hash: hash, Files: map[string]string{
			"d.yaml": strings.Replace(deployment, "annotations: {}", "annotations: {"+pods+"}", 1),
			"s.yaml": strings.Replace(serviceYAML, "{app: web}", "{app: web, pipecd.dev/variant: primary}", 1),
		}}
	}
	one, two := at("aaaaaaa1", "app:v1", ""), at("aaaaaaa2", "app:v2", "")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "100%"}`, two, one)
	a.succeeds("K8S_TRAFFIC_ROUTING", `{"all": "canary"}`, two, one)
	a.fails("K8S_PRIMARY_ROLLOUT", `{}`, at("aaaaaaa2", "registry.invalid/x:1", ""), one)
	require.Equal(t, "canary", a.serviceVariant())
	return a, at
}

func TestARollbackTakesTrafficBackWhenThePrimaryIsReady(t *testing.T) {
	t.Parallel()
	a, at := blueGreen(t)
	log := a.succeeds("K8S_ROLLBACK", "", at("aaaaaaa2", "registry.invalid/x:1", ""), at("aaaaaaa1", "app:v1", ""))
	require.Equal(t, "primary", a.serviceVariant())
	ready := strings.Index(log, "Deployment web: 2 of 2 ready")
	routed := strings.Index(log, "Service "+a.namespace+"/web: changed")
	removed := strings.Index(log, "Removed the canary variant")
	require.Greater(t, ready, 0, log)
	require.Greater(t, routed, ready, log)
	require.Greater(t, removed, routed, log)
}

func TestARollbackLeavesTrafficWhereItIsWhenThePrimaryDoesNotComeBack(t *testing.T) {
	t.Parallel()
	a, at := blueGreen(t)
	a.settings = "failureGrace: 300ms, rolloutTimeout: 2s"
	log := a.fails("K8S_ROLLBACK", "", at("aaaaaaa2", "registry.invalid/x:1", ""),
		at("aaaaaaa1", "app:v1", "pipedeck.dev/simulate: never-ready"))
	require.Contains(t, log, "Deployment "+a.namespace+"/web has no ready pod, so traffic is left where it was "+
		"and the other variants are kept")
	require.Contains(t, log, "not ready within 2s")
	require.Equal(t, "canary", a.serviceVariant())
	a.get(deployments, "web-canary")
}

func TestPruneFindsWhatGitHadThoughItsLabelsAreGoneAndLeavesWhatAnotherApplicationTook(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	role := "pipedeck-" + a.namespace
	clusterRoles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
		Resource: "clusterroles"}
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(clusterRoles).Delete(context.Background(), role, metav1.DeleteOptions{})
	})
	before := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"kept.yaml": configMap("kept"), "bare.yaml": configMap("bare"), "taken.yaml": configMap("taken"),
		"owned.yaml": configMap("owned"),
		"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + role +
			"}\nrules: []\n",
	}}
	a.succeeds("K8S_SYNC", "", before, nil)
	a.patch("bare", `{"metadata": {"labels": null}}`)
	kept := a.get(configMaps, "kept")
	a.patch("owned", // its marks still name it, so that it is no child of the owner
		`{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "kept", "uid": "`+
			string(kept.GetUID())+`"}]}}`)
	id := a.id
	a.id = "other-" + id
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa9", Files: map[string]string{"taken.yaml": configMap("taken")}},
		nil)
	a.id = id

	log := a.succeeds("K8S_SYNC", `{"prune": true}`,
		&commit{Hash: "aaaaaaa2", Files: map[string]string{"kept.yaml": configMap("kept")}}, before)
	require.Contains(t, log, "Pruned 3 resources")
	a.absent(configMaps, "bare")
	a.absent(configMaps, "owned")
	a.get(configMaps, "kept")
	a.get(configMaps, "taken")
	_, err := a.live().Dynamic.Resource(clusterRoles).Get(t.Context(), role, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

// patch changes a ConfigMap as someone would by hand.
func (a *app) patch(name, change string) {
	a.t.Helper()
	_, err := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Patch(a.t.Context(), name,
		types.MergePatchType, []byte(change), metav1.PatchOptions{FieldManager: "hand"})
	require.NoError(a.t, err)
}

func TestARollbackRemovesWhatTheFailedDeploymentCreatedInTheWholeCluster(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	role := "pipedeck-" + a.namespace
	clusterRoles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
		Resource: "clusterroles"}
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(clusterRoles).Delete(context.Background(), role, metav1.DeleteOptions{})
	})
	bad := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"role.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: " + role +
			"}\nrules: []\n",
		"d.yaml": deploymentYAML("web", "registry.invalid/x:1", 1, ""),
	}}
	a.fails("K8S_SYNC", "", bad, nil)
	log := a.succeeds("K8S_ROLLBACK", "", bad, nil)
	require.Contains(t, log, "never been deployed successfully")
	require.Contains(t, log, "Removed 2 resources that the failed deployment created")
	a.absent(deployments, "web")
	_, err := a.live().Dynamic.Resource(clusterRoles).Get(t.Context(), role, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestARollbackCreatesAgainWhatWasReplacedByForce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	with := func(hash, annotation, label string) *commit {
		return &commit{Hash: hash, Files: map[string]string{"d.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {` + annotation + `}}
spec:
  selector: {matchLabels: {app: ` + label + `}}
  template:
    metadata: {labels: {app: ` + label + `}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`}}
	}
	one, two := with("aaaaaaa1", "", "one"), with("aaaaaaa2", "pipecd.dev/force-sync-by-replace: enabled", "two")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", two, one)
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "Deployment "+a.namespace+"/web: deleted and created again")
	selector, _, _ := unstructured.NestedStringMap(a.get(deployments, "web").Object, "spec", "selector", "matchLabels")
	require.Equal(t, map[string]string{"app": "one"}, selector)
}

const (
	holding    = `{"metadata": {"finalizers": ["example.com/hold"]}}`
	heldNoMore = `{"metadata": {"finalizers": null}}`
)

func TestAStageThatWasInterruptedWaitsAgainForWhatItHasDeleted(t *testing.T) {
	t.Parallel()
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": configMap("web")}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": configMap("web"), "b.yaml": configMap("held")}}
	t.Run("rollback", func(t *testing.T) {
		t.Parallel()
		a := newApp(t)
		a.succeeds("K8S_SYNC", "", one, nil)
		a.nextDeployment()
		a.succeeds("K8S_SYNC", "", two, one)
		log := deletesHeldInTwoAttempts(a, "K8S_ROLLBACK", "", two, one)
		require.Contains(t, log, "Removed 1 resource that the failed deployment created")
	})
	t.Run("prune", func(t *testing.T) {
		t.Parallel()
		a := newApp(t)
		a.succeeds("K8S_SYNC", "", two, nil)
		a.nextDeployment()
		log := deletesHeldInTwoAttempts(a, "K8S_SYNC", `{"prune": true}`, one, two)
		require.Contains(t, log, "Pruned 1 resource that is not in Git any more")
	})
	t.Run("not what someone has deleted before", func(t *testing.T) {
		t.Parallel()
		a := newApp(t)
		a.succeeds("K8S_SYNC", "", two, nil)
		a.patch("held", holding)
		require.NoError(t, a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Delete(t.Context(), "held",
			metav1.DeleteOptions{}))
		a.nextDeployment()
		log := a.succeeds("K8S_SYNC", `{"prune": true}`, one, two)
		require.Contains(t, log, "Nothing to prune")
		a.patch("held", heldNoMore)
	})
}

// deletesHeldInTwoAttempts runs a stage that deletes a ConfigMap, which a finalizer holds until the stage was stopped
// and has begun again. It returns the log of the second attempt.
func deletesHeldInTwoAttempts(a *app, stage, options string, target, running *commit) string {
	a.t.Helper()
	a.patch("held", holding)
	const held = "held: Terminating, held by finalizers example.com/hold"
	first := fmt.Sprintf("stage-%d", a.stages+1)
	ctx, interrupt := context.WithCancel(a.t.Context())
	ended := make(chan model.StageStatus, 1)
	go func() {
		status, _ := a.runIn(ctx, stage, options, target, running)
		ended <- status
	}()
	a.says(first, held)
	interrupt()
	require.Equal(a.t, model.StageStatus_STAGE_CANCELLED, <-ended)
	second := fmt.Sprintf("stage-%d", a.stages+1)
	again := a.begin(stage, options, target, running)
	a.says(second, held)
	a.patch("held", heldNoMore)
	require.Equal(a.t, model.StageStatus_STAGE_SUCCESS, <-again, a.h.Piped.Log(second))
	a.absent(configMaps, "held")
	return a.h.Piped.Log(second)
}
