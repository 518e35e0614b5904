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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/api/model"
)

var podsResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

const (
	fails = "pipedeck.dev/simulate: crash-loop"
	// runs is a pod that comes to its end when letEnd says so.
	runs = "pipedeck.dev/simulate: never-ready"
)

// jobYAML is a Job with annotations, and annotations of its pod.
func jobYAML(name, annotations, pod string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: {name: %s, annotations: {%s}}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {%s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "app:v1"}]}
`, name, annotations, pod)
}

// letEnd lets the pods of a Job end.
func (a *app) letEnd(job string) {
	a.t.Helper()
	list := a.live().Dynamic.Resource(podsResource).Namespace(a.namespace)
	found, err := list.List(a.t.Context(), metav1.ListOptions{LabelSelector: "job-name=" + job})
	require.NoError(a.t, err)
	require.NotEmpty(a.t, found.Items)
	for _, pod := range found.Items {
		_, err := list.Patch(a.t.Context(), pod.GetName(), types.MergePatchType,
			[]byte(`{"metadata": {"annotations": {"pipedeck.dev/simulate": null}}}`), metav1.PatchOptions{})
		require.NoError(a.t, err)
	}
}

// isThere reports whether an object is in the cluster.
func (a *app) isThere(gvr schema.GroupVersionResource, name string) bool {
	a.t.Helper()
	_, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).Get(a.t.Context(), name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		require.NoError(a.t, err)
	}
	return err == nil
}

// awaitPod waits until a Job has a pod that runs.
func (a *app) awaitPod(job string) {
	a.t.Helper()
	require.Eventually(a.t, func() bool {
		found, err := a.live().Dynamic.Resource(podsResource).Namespace(a.namespace).List(a.t.Context(),
			metav1.ListOptions{LabelSelector: "job-name=" + job, FieldSelector: "status.phase=Running"})
		return err == nil && len(found.Items) > 0
	}, time.Minute, 20*time.Millisecond)
}

func (a *app) uid(job string) types.UID {
	a.t.Helper()
	return a.get(jobs, job).GetUID()
}

// inOrder requires that a log has texts one after the other.
func inOrder(t *testing.T, log string, texts ...string) {
	t.Helper()
	rest := log
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		require.True(t, found, "%q is not there, or too early:\n%s", text, log)
		rest = after
	}
}

// migrated is an application with a migration before each rollout.
func migrated(hash, image, pod string) *commit {
	return &commit{Hash: hash, Files: map[string]string{
		"web.yaml":     deploymentYAML("web", image, 1, ""),
		"migrate.yaml": jobYAML("migrate", `helm.sh/hook: "pre-install,pre-upgrade"`, pod),
	}}
}

func TestAMigrationRunsBeforeEachRolloutAndItsFailureKeepsTheOldPods(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one, two := migrated("aaaaaaa1", "app:v1", ""), migrated("aaaaaaa2", "app:v2", fails)
	log := a.succeeds("K8S_SYNC", "", one, nil)
	inOrder(t, log, "Running 1 hook before the rollout: Job "+a.namespace+"/migrate (helm.sh/hook: pre-install, "+
		"pre-upgrade)", "Job migrate: 1 of 1 completed", "The hooks before the rollout are done",
		"Deployment "+a.namespace+"/web: created")
	require.Contains(t, log, " | This pod is simulated", "the log of the hook's pod is in the stage's")
	first, generation := a.uid("migrate"), a.get(deployments, "web").GetGeneration()

	a.nextDeployment()
	log = a.fails("K8S_SYNC", "", two, one)
	require.Contains(t, log, "a hook before the rollout failed, so nothing was rolled out: Job "+a.namespace+
		"/migrate: it failed")
	require.NotContains(t, log, "its last output: This pod is simulated", "no container has printed that")
	require.Equal(t, generation, a.get(deployments, "web").GetGeneration())
	failed := a.uid("migrate")
	require.NotEqual(t, first, failed)
	log = a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Equal(t, failed, a.uid("migrate"), "what failed stays to be looked at:\n%s", log)

	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", migrated("aaaaaaa3", "app:v2", ""), one)
	require.NotEqual(t, failed, a.uid("migrate"))
	require.Greater(t, a.get(deployments, "web").GetGeneration(), generation)
}

func TestAFailedMigrationOfTheFirstDeploymentCreatesNoWorkload(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.fails("K8S_SYNC", "", migrated("aaaaaaa1", "app:v1", fails), nil)
	require.False(t, a.isThere(deployments, "web"))
}

func TestAWaveBeginsWhenTheOneBeforeHasEnded(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"web.yaml": strings.Replace(deploymentYAML("web", "app:v1", 1, ""), "  name: web\nspec",
			"  name: web\n  annotations: {argocd.argoproj.io/sync-wave: \"1\"}\nspec", 1),
		"job.yaml":  jobYAML("prepare", `pipecd.dev/order: "-1"`, runs),
		"conf.yaml": configMap("conf"),
	}}
	stage := a.stage("sync", "K8S_SYNC", "", c, nil)
	type result struct {
		status model.StageStatus
		log    string
	}
	ended := make(chan result, 1)
	go func() {
		status, log := a.execute(t.Context(), stage)
		ended <- result{status, log}
	}()
	a.awaitPod("prepare")
	require.False(t, a.isThere(configMaps, "conf"), "wave 0 has to wait")
	a.letEnd("prepare")
	r := <-ended
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, r.status, r.log)
	inOrder(t, r.log, "Job "+a.namespace+"/prepare: created", "Waiting for 1 object of wave -1 to be healthy",
		"Job prepare: 1 of 1 completed", "ConfigMap "+a.namespace+"/conf: created", "Deployment "+a.namespace+
			"/web: created")
}

func TestAnUnhealthyWaveHoldsTheNextOneBack(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"job.yaml":  jobYAML("prepare", `argocd.argoproj.io/sync-wave: "-1"`, fails),
		"conf.yaml": configMap("conf"),
	}}
	log := a.fails("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "wave -1 is not healthy, so no later wave was applied: Job "+a.namespace+
		"/prepare: it failed")
	require.False(t, a.isThere(configMaps, "conf"))
}

func TestHooksOfArgoRunInTheirPhasesAndTheirPoliciesCollectThem(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	const hook, policy = "argocd.argoproj.io/hook: ", ", argocd.argoproj.io/hook-delete-policy: HookSucceeded"
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "app:v1", 1, ""),
		"before.yaml": strings.Replace(jobYAML("before", hook+"PreSync"+policy, ""), "name: before",
			"generateName: before-", 1),
		"input.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: input, annotations: {" + hook + "PreSync" +
			policy + ", argocd.argoproj.io/sync-wave: '-1'}}\n",
		"during.yaml": jobYAML("during", hook+"Sync"+policy, ""),
		"after.yaml":  jobYAML("after", hook+"PostSync", ""),
		"skip.yaml":   jobYAML("skip", hook+"Skip", ""),
		"fail.yaml":   jobYAML("fail", hook+"SyncFail", ""),
	}}
	sync := a.stage("sync", "K8S_SYNC", `{"prune": true}`, c, nil)
	status, log := a.execute(t.Context(), sync)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
	inOrder(t, log, "Not run: Job "+a.namespace+"/skip", "ConfigMap "+a.namespace+"/input: created",
		"Job before: 1 of 1 completed", "ConfigMap "+a.namespace+"/input: deleted", "Deployment "+a.namespace+
			"/web: created", "Deployment web: 1 of 1 ready", "Job "+a.namespace+"/during: deleted",
		"Running 1 hook after the rollout: Job "+a.namespace+"/after", "Job after: 1 of 1 completed")
	for _, name := range []string{"before", "during", "skip", "fail"} {
		require.False(t, a.isThere(jobs, name), name)
	}
	after := a.uid("after")
	a.becomes(c, "in sync without the hooks that are gone", inSync)

	_, log = a.execute(t.Context(), sync)
	require.Contains(t, log, "The hooks before the rollout have run in this deployment")
	require.Contains(t, log, "The hooks after the rollout have run in this deployment")
	require.False(t, a.isThere(jobs, "during"), "it does not run again in the same deployment")
	require.Equal(t, after, a.uid("after"))

	a.nextDeployment()
	log = a.succeeds("K8S_SYNC", "", c, c)
	require.Contains(t, log, "Job during: 1 of 1 completed")
	require.NotEqual(t, after, a.uid("after"))
}

func TestAFailedHookIsDeletedWhenItsPolicySaysSo(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := migrated("aaaaaaa1", "app:v1", fails)
	c.Files["migrate.yaml"] = strings.Replace(c.Files["migrate.yaml"], `"pre-install,pre-upgrade"`,
		`"pre-install", helm.sh/hook-delete-policy: hook-failed`, 1)
	log := a.fails("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "Job "+a.namespace+"/migrate: it failed")
	a.absent(jobs, "migrate")
}

func TestAFailedRolloutRunsItsHookOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"web.yaml": deploymentYAML("web", "app:v1", 1, "")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"web.yaml":    deploymentYAML("web", "registry.invalid/x:1", 1, ""),
		"report.yaml": jobYAML("report", "argocd.argoproj.io/hook: SyncFail", ""),
		"after.yaml":  jobYAML("after", "argocd.argoproj.io/hook: PostSync", ""),
		"before.yaml": jobYAML("before", `helm.sh/hook: "pre-rollback"`, ""),
	}}
	log := a.fails("K8S_SYNC", "", two, one)
	inOrder(t, log, "Running 1 hook for the failed rollout: Job "+a.namespace+"/report", "Job report: 1 of 1 completed",
		"the image registry.invalid/x:1 cannot be pulled")
	require.False(t, a.isThere(jobs, "after"))
	reported := a.uid("report")
	log = a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "The hooks for the failed rollout have run in this deployment")
	require.Equal(t, reported, a.uid("report"))
	require.False(t, a.isThere(jobs, "before"), "the hooks of a rollback are those of the commit it goes back to")
	a.becomes(one, "in sync although the hook is not in Git", inSync)
}

func TestAHookForAFailedRolloutThatFailsItselfDoesNotRunAgain(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"conf.yaml": configMap("conf", "a: v1")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"web.yaml":    deploymentYAML("web", "registry.invalid/x:1", 1, ""),
		"report.yaml": jobYAML("report", "argocd.argoproj.io/hook: SyncFail", fails),
		"skip.yaml":   jobYAML("skip", "argocd.argoproj.io/hook: Skip", ""),
	}}
	log := a.fails("K8S_SYNC", "", two, one)
	require.Contains(t, log, "A hook for the failed rollout failed, too")
	require.Contains(t, log, "/skip (argocd.argoproj.io/hook: Skip), because such a hook never runs")
	log = a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "The hooks for the failed rollout have run in this deployment")
	require.NotContains(t, log, "Running 1 hook for")
}

func TestARollbackRunsTheHooksOfTheCommitThatItGoesBackTo(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	files := map[string]string{
		"web.yaml":    deploymentYAML("web", "app:v1", 1, ""),
		"before.yaml": jobYAML("before", "helm.sh/hook: pre-rollback", ""),
		"after.yaml":  jobYAML("after", "helm.sh/hook: post-rollback", ""),
		"pre.yaml":    jobYAML("pre", "argocd.argoproj.io/hook: PreSync", ""),
	}
	one := &commit{Hash: "aaaaaaa1", Files: files}
	a.succeeds("K8S_SYNC", "", one, nil)
	pre := a.uid("pre")
	require.False(t, a.isThere(jobs, "before"))
	a.nextDeployment()
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{
		"web.yaml": deploymentYAML("web", "registry.invalid/x:1", 1, "")}}
	a.fails("K8S_SYNC", "", two, one)
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	inOrder(t, log, "Running 1 hook before the rollback: Job "+a.namespace+"/before", "Deployment "+a.namespace+
		"/web: changed", "Running 1 hook after the rollback: Job "+a.namespace+"/after", "Rolled back to commit")
	require.Equal(t, pre, a.uid("pre"), "what ran before the commit was deployed does not run again")
}

func TestTestsAreASeparateStage(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	at := func(pod string) *commit {
		return &commit{Hash: "aaaaaaa1", Files: map[string]string{
			"web.yaml": deploymentYAML("web", "app:v1", 1, ""),
			"test.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: check, annotations: {helm.sh/hook: test, " +
				"helm.sh/hook-weight: '1', " + pod + "}}\nspec: {restartPolicy: Never, containers: [{name: a, image: " +
				"'a:1'}]}\n",
			"first.yaml": jobYAML("first", "helm.sh/hook: test", ""),
		}}
	}
	good := at("x: y")
	a.succeeds("K8S_SYNC", "", good, nil)
	require.False(t, a.isThere(podsResource, "check"))
	log := a.succeeds("K8S_TEST", "{}", good, nil)
	inOrder(t, log, "Running 1 test: Job "+a.namespace+"/first", "Job first: 1 of 1 completed",
		"Pod check: ", "The tests are done")
	check := a.get(podsResource, "check").GetUID()
	a.succeeds("K8S_TEST", "{}", good, nil)
	require.NotEqual(t, check, a.get(podsResource, "check").GetUID(), "another stage tests again")
	log = a.fails("K8S_TEST", "{}", at(fails), nil)
	require.Contains(t, log, "a test failed: Pod "+a.namespace+"/check: the pod ended with a failure; pod check: "+
		"container a crashed, last exit code 1")
	require.Contains(t, a.succeeds("K8S_TEST", "{}", &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"c.yaml": configMap("c")}}, nil), "There are no tests")
}

func TestAHookThatRunsWhenThePluginIsKilledRunsOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := migrated("aaaaaaa1", "app:v1", runs)
	c.Files["early.yaml"] = jobYAML("early", `helm.sh/hook: pre-install, helm.sh/hook-weight: "-1", `+
		`helm.sh/hook-delete-policy: hook-succeeded`, "")
	stage := a.stage("sync", "K8S_SYNC", "", c, nil)
	ctx, kill := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.execute(ctx, stage)
	}()
	a.awaitPod("migrate")
	began, early := a.uid("migrate"), a.uid("early")
	kill()
	<-ended
	require.False(t, a.isThere(deployments, "web"))

	again := make(chan string, 1)
	go func() {
		_, log := a.execute(t.Context(), stage)
		again <- log
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(a.h.Piped.Log("sync"), "an earlier attempt in this deployment has begun it")
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, early, a.uid("early"), "a hook that has ended does not run again")
	require.False(t, a.isThere(deployments, "web"), "a hook that runs is waited for")
	a.letEnd("migrate")
	log := <-again
	require.True(t, a.isThere(deployments, "web"), log)
	require.Equal(t, began, a.uid("migrate"))
	a.absent(jobs, "early")
}

func TestACanaryPipelineRunsItsHooksOnce(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.pipeline = "  pipeline: {stages: [{name: K8S_CANARY_ROLLOUT}, {name: K8S_PRIMARY_ROLLOUT}, " +
		"{name: K8S_CANARY_CLEAN}, {name: K8S_TEST}]}\n"
	files := func(image string) map[string]string {
		return map[string]string{
			"web.yaml":    deploymentYAML("web", image, 1, ""),
			"before.yaml": jobYAML("before", "argocd.argoproj.io/hook: PreSync", ""),
			"after.yaml":  jobYAML("after", "helm.sh/hook: post-upgrade", ""),
			"input.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: input, annotations: {helm.sh/hook: " +
				"'pre-upgrade', helm.sh/hook-weight: '-1'}}\n",
		}
	}
	one, two := &commit{Hash: "aaaaaaa1", Files: files("app:v1")}, &commit{Hash: "aaaaaaa2", Files: files("app:v2")}
	a.succeeds("K8S_SYNC", "", one, nil)
	first := a.uid("before")
	a.nextDeployment()
	at := func(index int32, name string) string {
		stage := a.stage(name, name, "{}", two, one)
		stage.Index = index
		status, log := a.execute(t.Context(), stage)
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
		return log
	}
	log := at(0, "K8S_CANARY_ROLLOUT")
	inOrder(t, log, "Job before: 1 of 1 completed", "Deployment "+a.namespace+"/web-canary: created")
	second := a.uid("before")
	require.NotEqual(t, first, second)
	require.False(t, a.isThere(configMaps, "input-canary"), "a canary has no hooks")
	log = at(1, "K8S_PRIMARY_ROLLOUT")
	require.Contains(t, log, "The hooks before the rollout have run in this deployment")
	require.False(t, a.isThere(jobs, "after"), "a later stage changes the cluster")
	log = at(2, "K8S_CANARY_CLEAN")
	inOrder(t, log, "Removed the canary variant", "Job after: 1 of 1 completed")
	require.Equal(t, second, a.uid("before"))
}

func TestABlueGreenPipelineRunsItsHooksOnce(t *testing.T) {
	t.Parallel()
	a, at := blueGreen(t)
	hooked := func(hash, image string) *commit {
		c := at(hash, image, "")
		c.Files["before.yaml"] = jobYAML("before", "helm.sh/hook: pre-upgrade", "")
		c.Files["after.yaml"] = jobYAML("after", "helm.sh/hook: post-upgrade", "")
		return c
	}
	one, two := at("aaaaaaa1", "app:v1", ""), hooked("aaaaaaa3", "app:v3")
	a.succeeds("K8S_ROLLBACK", "", at("aaaaaaa2", "registry.invalid/x:1", ""), one)
	a.nextDeployment()
	var before types.UID
	for i, s := range []struct{ name, options string }{
		{"K8S_CANARY_ROLLOUT", `{"replicas": "100%"}`}, {"K8S_TRAFFIC_ROUTING", `{"all": "canary"}`},
		{"K8S_PRIMARY_ROLLOUT", `{}`}, {"K8S_TRAFFIC_ROUTING", `{"all": "primary"}`},
	} {
		require.False(t, a.isThere(jobs, "after"))
		stage := a.stage(fmt.Sprintf("stage-%d", i), s.name, s.options, two, one)
		stage.Index = int32(i)
		status, log := a.execute(t.Context(), stage)
		require.Equal(t, model.StageStatus_STAGE_SUCCESS, status, log)
		if i == 0 {
			before = a.uid("before")
		}
		require.Equal(t, before, a.uid("before"))
	}
	require.Equal(t, "primary", a.serviceVariant())
	require.True(t, a.isThere(jobs, "after"))
}
