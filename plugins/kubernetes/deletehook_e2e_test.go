// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
)

// jobWith is a Job with annotations, and more annotations of its pods.
func jobWith(name, annotations, podAnnotations string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s, annotations: {%s}}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {%s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}
`, name, annotations, podAnnotations)
}

const neverReady = "pipedeck.dev/simulate: never-ready"

// remains are the objects with the marks of the application, "Kind name".
func remains(a *app) (found []string) {
	a.t.Helper()
	items, _, err := inventory.List(a.t.Context(), a.live(), inventory.Labels(a.id), nil)
	require.NoError(a.t, err)
	for _, item := range items {
		found = append(found, item.Key.Kind+" "+item.Key.Name)
	}
	return found
}

// nextRemoval begins another deployment, to which piped gives what the plugin has stored for the application.
func nextRemoval(a *app) {
	a.t.Helper()
	a.h.Piped.BeginDeployment()
	a.deployments++
}

func TestHooksRunAroundARemoval(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"conf.yaml":  configMap("conf"),
		"setup.yaml": jobWith("setup", "helm.sh/hook: pre-install", ""),
		"save.yaml":  jobWith("save", `helm.sh/hook: "pre-delete,pre-upgrade", helm.sh/hook-weight: "-1"`, ""),
		"stop.yaml":  jobWith("stop", "argocd.argoproj.io/hook: PreDelete", ""),
		"note.yaml": jobWith("note", "helm.sh/hook: post-delete, helm.sh/hook-delete-policy: hook-succeeded", "") +
			"---\n" + strings.Replace(annotated("words", "argocd.argoproj.io/hook: PostDelete, "+
			`helm.sh/hook-weight: "-5"`), "annotations", "labels: {a: b}, annotations", 1),
		"test.yaml": jobWith("check", "helm.sh/hook: test", ""),
	}}
	log := a.succeeds("K8S_SYNC", "", last, nil)
	require.Contains(t, log, "Not run: Job "+a.namespace+"/note (helm.sh/hook: post-delete), because an installation "+
		"has no such moment")
	require.Equal(t, []string{"ConfigMap conf", "Job setup"}, remains(a))

	nextRemoval(a)
	log = a.succeeds("K8S_REMOVE", "", last, last)
	inOrder(t, log,
		"Running 1 hook before the deletion: Job "+a.namespace+"/save (helm.sh/hook: pre-delete, pre-upgrade)",
		"Running 1 hook before the deletion: Job "+a.namespace+"/stop (argocd.argoproj.io/hook: PreDelete)",
		"Deleting 4 resources from", "ConfigMap "+a.namespace+"/conf: deleted",
		"Running 1 hook after the deletion: ConfigMap "+a.namespace+"/words",
		"Running 1 hook after the deletion: Job "+a.namespace+"/note",
		"Deleting 1 hook, as their delete policy says",
		"ConfigMap "+a.namespace+"/words: deleted",
		"Removed the application: 5 resources deleted")
	require.NotContains(t, log, "check")
	require.NotContains(t, log, "Running 1 hook before the deletion: Job "+a.namespace+"/setup")
	require.Empty(t, remains(a))

	nextRemoval(a)
	log = a.succeeds("K8S_REMOVE", "", last, last)
	require.Contains(t, log, "Nothing to delete: the application has no resources")
	require.NotContains(t, log, "Running")
	require.Empty(t, remains(a))
}

func TestAFailedHookBeforeADeletionDeletesNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 60s", "rolloutTimeout: 10s", 1)
	with := func(hash, podAnnotations string) *commit {
		return &commit{Hash: hash, Files: map[string]string{
			"conf.yaml":  configMap("conf"),
			"first.yaml": jobWith("first", `helm.sh/hook: pre-delete, helm.sh/hook-weight: "-1"`, ""),
			"save.yaml": jobWith("save", "helm.sh/hook: pre-delete, helm.sh/hook-delete-policy: hook-failed",
				podAnnotations),
			"after.yaml": jobWith("after", "helm.sh/hook: post-delete", ""),
		}}
	}
	bad, good := with("aaaaaaa1", neverReady), with("aaaaaaa2", "")
	a.succeeds("K8S_SYNC", "", bad, nil)
	nextRemoval(a)
	log := a.fails("K8S_REMOVE", "", bad, bad)
	require.Contains(t, log, "a hook before the deletion failed, so nothing was deleted: Job "+a.namespace+"/save: "+
		"not ready within 10s")
	require.Regexp(t, "(?m)^next step: .*pipedeck remove .* --cascade.*pipedeck remove .* --orphan$", log)
	require.Contains(t, log, "Deleting 1 hook, as their delete policy says")
	require.Equal(t, []string{"ConfigMap conf", "Job first"}, remains(a))

	nextRemoval(a)
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 10s", "rolloutTimeout: 60s", 1)
	a.succeeds("K8S_SYNC", "", good, bad)
	nextRemoval(a)
	log = a.succeeds("K8S_REMOVE", "", good, good)
	require.Contains(t, log, "Job "+a.namespace+"/first: the hook ran in an earlier deployment")
	require.Contains(t, log, "The hooks after the deletion are done")
	require.Empty(t, remains(a))
}

func TestAFailedHookAfterADeletionRunsAgainInTheNextRemoval(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 60s", "rolloutTimeout: 10s", 1)
	last := func(podAnnotations string) *commit {
		return &commit{Hash: "aaaaaaa1", Files: map[string]string{
			"conf.yaml": configMap("conf"),
			"save.yaml": jobWith("save", "helm.sh/hook: pre-delete", ""),
			"note.yaml": jobWith("note", "helm.sh/hook: post-delete, helm.sh/hook-delete-policy: hook-failed",
				podAnnotations),
		}}
	}
	a.succeeds("K8S_SYNC", "", last(neverReady), nil)
	nextRemoval(a)
	log := a.fails("K8S_REMOVE", "", last(neverReady), nil)
	require.Contains(t, log, "a hook after the deletion failed: Job "+a.namespace+"/note: not ready within 10s")
	require.Contains(t, log, "next step: ")
	require.Empty(t, remains(a))

	nextRemoval(a) // what the hook needs is there by now
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 10s", "rolloutTimeout: 60s", 1)
	log = a.succeeds("K8S_REMOVE", "", last(""), nil)
	require.Contains(t, log, "Not run, because there is nothing to delete any more: 1 hook before the deletion")
	require.Contains(t, log, "Running 1 hook after the deletion")
	nextRemoval(a)
	log = a.succeeds("K8S_REMOVE", "", last(""), nil)
	require.NotContains(t, log, "Running 1 hook after the deletion")
	require.Empty(t, remains(a))
}

func TestARemovalThatIsInterruptedRunsEachHookOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"a.yaml": configMap("web"), "b.yaml": configMap("held"),
		"save.yaml": gated("save", "helm.sh/hook: pre-delete"),
		"note.yaml": gated("note", "helm.sh/hook: post-delete"),
	}}
	a.succeeds("K8S_SYNC", "", last, nil)
	a.edit(configMaps, "held", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	nextRemoval(a)
	interrupted := func(until string) string { return interruptedRemoval(a, last, until) }
	interrupted("Waiting for 1 hook to end")
	a.get(configMaps, "web")
	open(a, "save")

	log := interrupted("ConfigMap " + a.namespace + "/held: Terminating")
	require.Contains(t, log, "Job "+a.namespace+"/save: an earlier attempt in this deployment has begun it; it "+
		"does not run twice")
	a.absent(configMaps, "web")
	log = interrupted("ConfigMap " + a.namespace + "/held: Terminating, held by finalizers example.com/hold")
	require.NotContains(t, log, "Nothing to delete")
	require.NotContains(t, log, "Running", "the hooks after the deletion wait for what is held")
	a.edit(configMaps, "held", `{"metadata": {"finalizers": null}}`)

	log = interrupted("Running 1 hook after the deletion: Job " + a.namespace + "/note (helm.sh/hook: post-delete)\n" +
		"- Job " + a.namespace + "/note: created")
	require.NotContains(t, log, "before the deletion")
	a.absent(jobs, "save")
	open(a, "note")
	log = a.succeeds("K8S_REMOVE", "", last, nil)
	require.Contains(t, log, "an earlier attempt in this deployment has begun it; it does not run twice")
	require.Empty(t, remains(a))
}

// interruptedRemoval stops a removal when its log has a text.
func interruptedRemoval(a *app, last *commit, until string) (log string) {
	a.t.Helper()
	return interrupted(a, "K8S_REMOVE", last, nil, until)
}

// interrupted stops a stage when its log has a text.
func interrupted(a *app, stage string, target, running *commit, until string) (log string) {
	a.t.Helper()
	ctx, cancel := context.WithCancel(a.t.Context())
	defer cancel()
	id := fmt.Sprintf("stage-%d", a.stages+1)
	go func() {
		defer cancel()
		a.h.Piped.WaitLog(a.t, id, until)
	}()
	_, log = a.runIn(ctx, stage, "", target, running)
	require.Contains(a.t, log, until)
	return log
}

// gated is a Job whose pod waits for a Secret of the Job's name.
func gated(name, annotations string) string {
	return strings.Replace(jobWith(name, annotations, ""), `image: "app:v1"`, `image: "app:v1", envFrom: `+
		"[{secretRef: {name: "+name+"}}]", 1)
}

// open lets a gated Job end.
func open(a *app, job string) {
	a.t.Helper()
	_, err := a.live().Dynamic.Resource(secrets).Namespace(a.namespace).Create(a.t.Context(),
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": job}}}, metav1.CreateOptions{})
	require.NoError(a.t, err)
}

func TestAHookAfterADeletionRunsInTheNamespaceThatIsDeletedThen(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = strings.Replace(a.settings, "autoCreateNamespace: true, ", "", 1)
	last := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"ns.yaml":   "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + a.namespace + "}\n",
		"conf.yaml": configMap("conf"),
		"note.yaml": jobWith("note", "helm.sh/hook: post-delete", ""),
	}}
	a.succeeds("K8S_SYNC", "", last, nil)
	nextRemoval(a)
	log := a.succeeds("K8S_REMOVE", "", last, nil)
	inOrder(t, log, "ConfigMap "+a.namespace+"/conf: deleted", "Running 1 hook after the deletion",
		"Job "+a.namespace+"/note: deleted", "Namespace "+a.namespace)
	require.NotContains(t, log, "kept")
	require.Eventually(t, func() bool {
		_, err := a.live().Dynamic.Resource(namespaces).Get(t.Context(), a.namespace, metav1.GetOptions{})
		return err != nil
	}, time.Minute, 100*time.Millisecond)
}

func TestARemovalWhoseHooksAreNotKnownDeletesNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	last := &commit{Hash: "aaaaaaa1", Files: chartFiles(nil)}
	a.succeeds("K8S_SYNC", "", last, nil)
	nextRemoval(a)
	gone := at("aaaaaaa1", last)
	delete(gone.Files, "chart/Chart.yaml")
	log := a.fails("K8S_REMOVE", "", gone, nil)
	require.Contains(t, log, "the manifests of commit aaaaaaa, which was deployed last, cannot be loaded, so its "+
		"hooks for a deletion are not known and nothing more was deleted: ")
	require.Contains(t, log, "next step: ")
	a.get(configMaps, "kept")
	a.succeeds("K8S_REMOVE", "", last, nil)
	a.absent(configMaps, "kept")
	nextRemoval(a)
	log = a.succeeds("K8S_REMOVE", "", gone, nil)
	require.Contains(t, log, "Nothing to delete", "a commit that could never be deployed is no hindrance")
}

func TestARemovalWhoseHookHasNotEndedDeletesNothingWhenItsCommitCannotBeLoadedAnyMore(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}"
	last := &commit{Hash: "aaaaaaa1", Files: chartFiles(map[string]string{
		"chart/templates/save.yaml": gated("save", "helm.sh/hook: pre-delete"),
	})}
	gone := at("aaaaaaa1", last)
	delete(gone.Files, "chart/Chart.yaml")
	a.succeeds("K8S_SYNC", "", last, nil)
	a.edit(configMaps, "kept", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
	nextRemoval(a)
	interruptedRemoval(a, last, "Waiting for 1 hook to end")
	require.Contains(t, a.fails("K8S_REMOVE", "", gone, nil), "nothing more was deleted")
	require.Nil(t, a.get(configMaps, "kept").GetDeletionTimestamp())

	open(a, "save")
	interruptedRemoval(a, last, "kept: Terminating")
	a.edit(configMaps, "kept", `{"metadata": {"finalizers": null}}`)
	log := a.succeeds("K8S_REMOVE", "", gone, nil)
	require.Contains(t, log, "only what has the application's labels is found")
	require.Empty(t, remains(a))
}
