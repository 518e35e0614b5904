// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hooked is an application with a chart that has hooks, and its commits; image is that of every container.
func hooked(t *testing.T, moments string) (a *app, at func(hash, image string) *commit) {
	t.Helper()
	a = newApp(t)
	a.settings += ", helmChart: {path: chart}"
	return a, func(hash, image string) *commit {
		return &commit{Hash: hash, Files: map[string]string{
			"chart/Chart.yaml":          "{apiVersion: v2, name: web, version: 1.2.3}",
			"chart/templates/conf.yaml": configMap("conf", "image: '"+image+"'"),
			"chart/templates/migrate.yaml": strings.NewReplacer("pre-install,pre-upgrade", moments,
				"app:{{ .Chart.AppVersion }}", image).Replace(hookJob),
		}}
	}
}

func (a *app) migration() (uid, image string) {
	a.t.Helper()
	job := a.get(jobs, "demo-migrate")
	containers, _, err := unstructured.NestedSlice(job.Object, "spec", "template", "spec", "containers")
	require.NoError(a.t, err)
	return string(job.GetUID()), containers[0].(map[string]any)["image"].(string)
}

func TestAHookRunsAgainInEachDeployment(t *testing.T) {
	t.Parallel()
	a, at := hooked(t, "pre-install,pre-upgrade")
	one, two := at("aaaaaaa1", "app:v1"), at("aaaaaaa2", "app:v2")
	a.succeeds("K8S_SYNC", "", one, nil)
	first, _ := a.migration()

	a.nextDeployment()
	summary, details := a.previews(two, one)
	require.Equal(t, "0 added manifests, 1 changed manifests, 0 deleted manifests; 1 hook would run", summary)
	require.Contains(t, details, "# Job "+a.namespace+"/demo-migrate (helm.sh/hook: pre-install, pre-upgrade) would "+
		"run before the rollout\n")
	require.Contains(t, details, "# a hook: it would be deleted and created again to run")
	log := a.succeeds("K8S_SYNC", "", two, one)
	second, image := a.migration()
	require.NotEqual(t, first, second)
	require.Equal(t, "app:v2", image)
	require.Contains(t, log, "Job "+a.namespace+"/demo-migrate: the hook ran in an earlier deployment; it is "+
		"deleted and created again to run in this one")

	a.succeeds("K8S_SYNC", "", two, one)
	again, _ := a.migration()
	require.Equal(t, second, again, "another attempt of the same deployment finds its own run")

	a.nextDeployment()
	a.succeeds("K8S_SYNC", "", two, two)
	third, _ := a.migration()
	require.NotEqual(t, second, third, "a sync of the same commit is another deployment")
}

func TestAHookOfTheInstallationDoesNotRunInAnUpgrade(t *testing.T) {
	t.Parallel()
	a, at := hooked(t, "pre-install")
	one, two := at("aaaaaaa1", "app:v1"), at("aaaaaaa2", "app:v2")
	a.succeeds("K8S_SYNC", "", one, nil)
	first, _ := a.migration()
	a.nextDeployment()
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, two, one)
	require.Contains(t, log, "Not run: Job "+a.namespace+"/demo-migrate (helm.sh/hook: pre-install), because an "+
		"upgrade has no such moment")
	second, image := a.migration()
	require.Equal(t, first, second)
	require.Equal(t, "app:v1", image)
}

func TestAHookThatFailsInThisDeploymentFailsTheStage(t *testing.T) {
	t.Parallel()
	a, at := hooked(t, "pre-install,pre-upgrade")
	one, two := at("aaaaaaa1", "app:v1"), at("aaaaaaa2", "app:v1")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 60s", "rolloutTimeout: 3s", 1)
	two.Files = maps.Clone(two.Files)
	two.Files["chart/templates/migrate.yaml"] = strings.Replace(two.Files["chart/templates/migrate.yaml"],
		"  template:\n", "  backoffLimit: 0\n  template:\n"+
			"    metadata: {annotations: {pipedeck.dev/simulate: never-ready}}\n", 1)
	log := a.fails("K8S_SYNC", "", two, one)
	require.Contains(t, log, "a hook before the rollout failed, so nothing was rolled out: Job "+a.namespace+
		"/demo-migrate: not ready within 3s")
}

func TestARollbackEndsAHookThatACancelledStageHasLeft(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"conf.yaml": configMap("conf")}}
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"conf.yaml": configMap("conf", "a: b"),
		"migrate.yaml": gated("migrate", "argocd.argoproj.io/hook: PreSync")}}
	interrupted(a, "K8S_SYNC", two, one, "Waiting for 1 hook to end")
	a.h.Piped.WaitLog(t, fmt.Sprintf("stage-%d", a.stages), "The hook Job "+a.namespace+"/migrate still runs. A "+
		"rollback of this deployment ends it; without one it runs on\nnext step: to end it yourself: kubectl delete "+
		"job/migrate -n "+a.namespace)
	a.get(jobs, "migrate")
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log, "Job "+a.namespace+"/migrate: a hook of the deployment that still runs, and is ended")
	a.absent(jobs, "migrate")
}

func TestARollbackRunsNoHookOfAnUpgrade(t *testing.T) {
	t.Parallel()
	a, at := hooked(t, "post-upgrade,post-install")
	one, two := at("aaaaaaa1", "app:v1"), at("aaaaaaa2", "app:v2")
	a.succeeds("K8S_SYNC", "", one, nil)
	a.nextDeployment()
	two.Files["chart/templates/broken.yaml"] = strings.Replace(brokenDeployment, "Deployment", "Ingress", 1)
	two.Files["chart/templates/broken.yaml"] = strings.Replace(two.Files["chart/templates/broken.yaml"], "apps/v1",
		"networking.k8s.io/v1", 1)
	a.fails("K8S_SYNC", "", two, one)
	log := a.succeeds("K8S_ROLLBACK", "", two, one)
	require.Contains(t, log,
		"Not run: Job "+a.namespace+"/demo-migrate (helm.sh/hook: post-upgrade, post-install), because a rollback "+
			"has no such moment")
	image, _, _ := unstructured.NestedString(a.get(configMaps, "conf").Object, "data", "image")
	require.Equal(t, "app:v1", image)
}

func TestASuspendedJobDoesNotFailTheStage(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	log := a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"job.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: later}\n" +
			"spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: " +
			"'app:v1'}]}}}\n",
	}}, nil)
	require.Contains(t, log, "Job later is suspended (spec.suspend): not waited for")
}

func TestASuspendedHookFailsTheStage(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"conf.yaml": configMap("conf"),
		"job.yaml": "apiVersion: batch/v1\nkind: Job\n" +
			"metadata: {name: later, annotations: {helm.sh/hook: pre-install}}\n" +
			"spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: main, image: " +
			"'app:v1'}]}}}\n",
	}}, nil)
	require.Contains(t, log, "is a hook that is suspended (spec.suspend), so it does not run")
	a.absent(configMaps, "conf")
}

func TestAReplicationControllerWithoutReadyPodsFailsTheStage(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = strings.Replace(a.settings, "rolloutTimeout: 60s", "rolloutTimeout: 3s", 1)
	controller := func(annotations string) *commit {
		return &commit{Hash: "aaaaaaa1", Files: map[string]string{"rc.yaml": `apiVersion: v1
kind: ReplicationController
metadata: {name: web}
spec:
  replicas: 1
  selector: {app: web}
  template:
    metadata: {labels: {app: web}, annotations: {` + annotations + `}}
    spec: {containers: [{name: main, image: "app:v1"}]}
`}}
	}
	require.Contains(t, newApp(t).succeeds("K8S_SYNC", "", controller(""), nil),
		"ReplicationController web: 1 of 1 ready")
	log := a.fails("K8S_SYNC", "", controller("pipedeck.dev/simulate: never-ready"), nil)
	require.Contains(t, log, "ReplicationController "+a.namespace+"/web: not ready within 3s")
	require.Contains(t, log, "0 of 1 ready")
}
