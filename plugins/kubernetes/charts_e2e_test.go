// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

const hookJob = `apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade"}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "app:{{ .Chart.AppVersion }}"}]
`

func TestAChartIsSyncedWithItsHooks(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += ", helmChart: {path: chart}, helmOptions: {valueFiles: [prod.yaml], setValues: {conf.colour: green}}"
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"prod.yaml":         "replicas: 2\n",
		"chart/Chart.yaml":  "{apiVersion: v2, name: web, version: 1.2.3, appVersion: v1}",
		"chart/values.yaml": "replicas: 1\nconf: {colour: blue}\n",
		"chart/templates/web.yaml": strings.NewReplacer("name: web", "name: {{ .Release.Name }}", "replicas: 1",
			"replicas: {{ .Values.replicas }}").
			Replace(deploymentYAML("web", "app:v1", 1, "")),
		"chart/templates/conf.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n" +
			"data: {{ .Values.conf | toJson }}\n",
		"chart/templates/migrate.yaml": hookJob,
		"chart/templates/tests/a.yaml": "apiVersion: v1\nkind: Pod\n" +
			"metadata: {name: check, annotations: {helm.sh/hook: test}}\nspec: {containers: [{name: a, image: a}]}\n",
	}}
	log := a.succeeds("K8S_SYNC", "", c, nil)
	for _, want := range []string{
		"Chart web 1.2.3 is rendered as release demo",
		"Loaded 4 manifests at commit aaaaaaa: 1 ConfigMap, 1 Deployment, 1 Job, 1 Pod",
		"Running 1 hook before the rollout: Job " + a.namespace + "/demo-migrate (helm.sh/hook: pre-install, " +
			"pre-upgrade)",
		"Applying 2 manifests to",
	} {
		require.Contains(t, log, want)
	}
	a.golden("chart")
	job := a.get(jobs, "demo-migrate")
	require.Equal(t, a.id, job.GetLabels()["pipecd.dev/application"])
	require.Equal(t, "pre-install,pre-upgrade", job.GetAnnotations()["helm.sh/hook"])

	broken := &commit{Hash: "aaaaaaa2", Files: map[string]string{}}
	for name, text := range c.Files {
		broken.Files[name] = text
	}
	broken.Files["chart/templates/conf.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\n" +
		"data: {a: {{ .Values.gone.a }}}\n"
	log = a.fails("K8S_SYNC", "", broken, c)
	require.Contains(t, log, "load the manifests at commit aaaaaaa: chart web 1.2.3: "+
		"chart/templates/conf.yaml:4:20: at <.Values.gone.a>: nil pointer evaluating interface {}.a (what stands "+
		"before it is not given)")
}

func TestAnOverlayOfKustomizeIsSynced(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml, service.yaml]\n" +
			"configMapGenerator: [{name: conf, literals: [colour=blue]}]\n",
		"base/web.yaml":     deploymentYAML("web", "app:v1", 1, ""),
		"base/service.yaml": serviceYAML,
		"kustomization.yaml": "resources: [base]\nnamePrefix: prod-\n" +
			"replicas: [{name: web, count: 2}]\nimages: [{name: app, newTag: v2}]\n",
		"ignored.yaml": "this: is not deployed\n",
	}}
	a.succeeds("K8S_SYNC", "", c, nil)
	a.golden("kustomize")
	c.Files["base/web.yaml"] = strings.Replace(c.Files["base/web.yaml"], "replicas: 1", "replicaz: 1", 1)
	log := a.fails("K8S_SYNC", "", c, c)
	require.Contains(t, log, "base/web.yaml:")
	require.Contains(t, log, "replicaz")
}
