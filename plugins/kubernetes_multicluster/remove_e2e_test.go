// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
)

// removable is a commit with hooks around its removal.
func removable() *commit {
	return &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"conf.yaml": configMap("conf"), "more.yaml": configMap("more"),
		"save.yaml": hookJob("save", "helm.sh/hook: pre-delete"),
		"note.yaml": hookJob("note", "argocd.argoproj.io/hook: PostDelete"),
	}}
}

// nextRemoval begins another deployment.
func (f *fleet) nextRemoval(id string) {
	f.h.Piped.BeginDeployment()
	f.deployment = id
}

// foreign creates a ConfigMap without marks at a target, which no removal may delete.
func (f *fleet) foreign(target string) {
	f.t.Helper()
	_, err := f.client.Dynamic.Resource(configMaps).Namespace(f.namespace(target)).Create(f.t.Context(),
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": "foreign"}}}, metav1.CreateOptions{})
	require.NoError(f.t, err)
}

// isEmpty requires that a target has nothing of the application, and what is not the application's.
func (f *fleet) isEmpty(target string) {
	f.t.Helper()
	for _, name := range []string{"conf", "more"} {
		f.hasNot(target, configMaps, name)
	}
	for _, name := range []string{"save", "note"} {
		f.hasNot(target, jobs, name)
	}
	f.has(target, configMaps, "foreign")
}

func TestARemovalDeletesInEachClusterAndTheNextOneGoesOnWithTheOneThatWasAway(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london", leaves: true}, fleetTarget{name: "lima"})
	one := removable()
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	for _, target := range []string{"tokyo", "london", "lima"} {
		f.foreign(target)
	}
	f.nextRemoval("removal-1")
	reachable, err := os.ReadFile(f.kubeconfigs["london"])
	require.NoError(t, err)
	f.leaves("london")
	log, metadata := f.fails("K8S_MULTI_REMOVE", "", one, one)
	require.Contains(t, log, "Deploy target tokyo: done")
	require.Contains(t, log, "Deploy target lima: done")
	require.Contains(t, log, "1 of 3 deploy targets failed: deploy target london: connect to the Kubernetes API at "+
		"https://127.0.0.1:")
	require.Contains(t, log, "[tokyo] Removed the application: 4 resources deleted")
	require.Equal(t, "2 of 3 deploy targets, failed: london", metadata["pipecd/stage-display-metadata"])
	require.Equal(t, "SUCCESS", results(t, metadata)["tokyo"].Status)
	require.Equal(t, "FAILURE", results(t, metadata)["london"].Status)
	require.Contains(t, results(t, metadata)["london"].Detail, "connect to the Kubernetes API")
	f.isEmpty("tokyo")
	f.isEmpty("lima")
	f.has("london", configMaps, "conf")

	f.nextRemoval("removal-2")
	require.NoError(t, os.WriteFile(f.kubeconfigs["london"], reachable, 0o600))
	log, metadata = f.succeeds("K8S_MULTI_REMOVE", "", one, one)
	require.Contains(t, log, "[tokyo] Nothing to delete: the application has no resources")
	require.NotContains(t, log, "[tokyo] Running")
	require.Contains(t, log, "[london] Running 1 hook before the deletion: Job save")
	require.Contains(t, log, "[london] Running 1 hook after the deletion: Job note")
	require.Equal(t, "3 of 3 deploy targets", metadata["pipecd/stage-display-metadata"])
	for _, target := range []string{"tokyo", "london", "lima"} {
		f.isEmpty(target)
	}
}

func TestAHookThatFailsInOneClusterDeletesNothingThere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	f.plugin = `{input: {failureGrace: 300ms, rolloutTimeout: 15s, multiTargets: [` +
		`{target: {name: tokyo}, manifests: [conf.yaml, more.yaml, save.yaml]}, ` +
		`{target: {name: london}, manifests: [conf.yaml, more.yaml, bad.yaml]}]}}`
	one := removable()
	one.Files["bad.yaml"] = strings.Replace(hookJob("save", "helm.sh/hook: pre-delete"), "spec: {template: {",
		"spec: {template: {metadata: {annotations: {pipedeck.dev/simulate: never-ready}}, ", 1)
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.foreign("tokyo")
	f.nextRemoval("removal-1")
	log, metadata := f.fails("K8S_MULTI_REMOVE", "", one, one)
	require.Contains(t, log, "deploy target london: a hook before the deletion failed, so nothing was deleted: Job "+
		f.namespace("london")+"/save: not ready within 15s")
	require.Contains(t, results(t, metadata)["london"].Detail, "a hook before the deletion failed")
	f.isEmpty("tokyo")
	f.has("london", configMaps, "conf")
	f.has("london", configMaps, "more")
}

func TestARemovalThatWasInterruptedInOneClusterGoesOnThere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	one := removable()
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.foreign("tokyo")
	f.foreign("london")
	held := func(finalizers string) {
		t.Helper()
		_, err := f.client.Dynamic.Resource(configMaps).Namespace(f.namespace("london")).Patch(t.Context(), "more",
			types.MergePatchType, []byte(`{"metadata": {"finalizers": `+finalizers+`}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	held(`["example.com/hold"]`)
	f.nextRemoval("removal-1")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		f.h.Piped.WaitLog(t, "removal", "[london] - ConfigMap "+f.namespace("london")+"/more: Terminating")
		f.h.Piped.WaitLog(t, "removal", "Deploy target tokyo: done")
	}()
	stage := clustertest.Stage{Name: "K8S_MULTI_REMOVE", ID: "removal", ApplicationID: f.id, Created: f.created,
		Deployment: f.deployment, Target: f.source(one), Running: f.source(one)}
	_, _, err := stage.Execute(ctx, f.h)
	require.Error(t, err)
	f.hasNot("london", configMaps, "conf")
	f.isEmpty("tokyo")

	held("null")
	status, log, err := stage.Execute(t.Context(), f.h)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
	require.Equal(t, 1, strings.Count(log, "[tokyo] Running 1 hook before the deletion"), log)
	require.Equal(t, 1, strings.Count(log, "[tokyo] Running 1 hook after the deletion"), log)
	require.Equal(t, 1, strings.Count(log, "[london] Running 1 hook before the deletion"), log)
	require.Equal(t, 1, strings.Count(log, "[london] Running 1 hook after the deletion"), log)
	f.isEmpty("tokyo")
	f.isEmpty("london")
}

func TestARemovalKeepsInEachClusterWhatAnotherApplicationHasInGit(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "lima"})
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"conf.yaml": configMap("conf"), "more.yaml": configMap("more"),
	}}
	f.succeeds("K8S_MULTI_SYNC", "", one, nil)
	f.nextRemoval("removal-1")
	head := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"store/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: store\n" +
			"  plugins:\n    kubernetes_multicluster:\n      input:\n        multiTargets:\n" +
			"        - {target: {name: lima}, manifests: [more.yaml]}\n",
		"store/more.yaml": configMap("more"),
	}}
	log, _ := f.succeeds("K8S_MULTI_REMOVE", "", one, head)
	require.Contains(t, log, "[lima] - ConfigMap "+f.namespace("lima")+"/more: kept, because the application store "+
		"(store/app.pipecd.yaml) has it in Git now")
	f.has("lima", configMaps, "more")
	f.hasNot("lima", configMaps, "conf")
	f.hasNot("tokyo", configMaps, "conf")
	f.hasNot("tokyo", configMaps, "more")
}
