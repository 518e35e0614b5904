// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

const kubeconfigEnv = clustertest.KubeconfigEnv

var deployments, configMaps, services = clustertest.Deployments, clustertest.ConfigMaps, clustertest.Services

type commit = clustertest.Commit

// app is an application with commits, and a plugin that deploys it to a separate namespace.
type app struct {
	t         *testing.T
	h         *wiretest.Harness
	client    *cluster.Client
	namespace string
	id        string
	// settings are added to spec.plugins.kubernetes.input; pipeline is YAML below spec.
	settings string
	pipeline string
	// created is when the deployment was.
	created     time.Time
	deployments int
	stages      int
}

func newApp(t *testing.T) *app {
	t.Helper()
	return newAppAt(t, clustertest.Kubeconfig(t))
}

func newAppAt(t *testing.T, kubeconfig string) *app {
	t.Helper()
	name := fmt.Sprintf("k8s-e2e-%d", time.Now().UnixNano())
	a := &app{
		t: t, namespace: name, id: name, created: time.Now(),
		settings: "autoCreateNamespace: true, failureGrace: 300ms, rolloutTimeout: 60s",
		h:        startPlugin(t, kubeconfig),
	}
	a.live()
	return a
}

// startPlugin starts a plugin with one deploy target, the cluster of a kubeconfig.
func startPlugin(t *testing.T, kubeconfig string) *wiretest.Harness {
	t.Helper()
	target, err := json.Marshal(config.DeployTarget{KubeConfigPath: kubeconfig})
	require.NoError(t, err)
	return wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), wiretest.Options{
		Name: "kubernetes", DeployTargets: []sdk.DeployTargetConfig{{Name: "local", Config: target}},
	})
}

// live returns a client of the tests' own, and removes the namespace at the end.
func (a *app) live() *cluster.Client {
	a.t.Helper()
	if a.client == nil {
		a.client = clustertest.Connect(a.t, os.Getenv(kubeconfigEnv))
		clustertest.RemoveNamespace(a.t, a.client, a.namespace)
	}
	return a.client
}

func (a *app) source(c *commit) *common.DeploymentSource {
	return c.Source(a.t, fmt.Sprintf("%s  plugins:\n    kubernetes:\n      input: {namespace: %s, %s}\n",
		a.pipeline, a.namespace, a.settings))
}

// run runs a stage and gives its log.
func (a *app) run(stage, options string, target, running *commit) (model.StageStatus, string) {
	a.t.Helper()
	return a.runIn(a.t.Context(), stage, options, target, running)
}

func (a *app) runIn(ctx context.Context, stage, options string, target, running *commit) (model.StageStatus, string) {
	a.t.Helper()
	a.stages++
	return a.execute(ctx, a.stage(fmt.Sprintf("stage-%d", a.stages), stage, options, target, running))
}

// stage is a stage of the deployment that runs now.
func (a *app) stage(id, name, options string, target, running *commit) clustertest.Stage {
	a.t.Helper()
	return clustertest.Stage{
		Name: name, Options: options, ID: id, ApplicationID: a.id, Created: a.created,
		Deployment: fmt.Sprintf("deployment-%d", a.deployments),
		Target:     a.source(target), Running: a.source(running),
	}
}

func (a *app) execute(ctx context.Context, stage clustertest.Stage) (model.StageStatus, string) {
	a.t.Helper()
	status, log, err := stage.Execute(ctx, a.h)
	if err != nil {
		return model.StageStatus_STAGE_CANCELLED, log
	}
	return status, log
}

// nextDeployment begins another deployment: what piped kept for the last one is gone. It waits until whatever that one
// has created is older by the API's clock, which counts seconds.
func (a *app) nextDeployment() {
	a.t.Helper()
	begun, err := a.live().Now(a.t.Context())
	require.NoError(a.t, err)
	require.Eventually(a.t, func() bool {
		now, err := a.live().Now(a.t.Context())
		require.NoError(a.t, err)
		return now.After(begun)
	}, time.Minute, 20*time.Millisecond)
	a.h, a.created = startPlugin(a.t, os.Getenv(kubeconfigEnv)), time.Now()
	a.deployments++
}

func (a *app) succeeds(stage, options string, target, running *commit) string {
	a.t.Helper()
	status, log := a.run(stage, options, target, running)
	require.Equal(a.t, model.StageStatus_STAGE_SUCCESS, status, log)
	return log
}

func (a *app) fails(stage, options string, target, running *commit) string {
	a.t.Helper()
	status, log := a.run(stage, options, target, running)
	require.Equal(a.t, model.StageStatus_STAGE_FAILURE, status, log)
	return log
}

func (a *app) get(gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	a.t.Helper()
	return clustertest.Namespace{Client: a.live(), Name: a.namespace}.Get(a.t, gvr, name)
}

func (a *app) absent(gvr schema.GroupVersionResource, name string) {
	a.t.Helper()
	clustertest.Namespace{Client: a.live(), Name: a.namespace}.Absent(a.t, gvr, name)
}

func deploymentYAML(name, image string, replicas int, podAnnotations string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  replicas: %[3]d
  selector:
    matchLabels: {app: %[1]s}
  template:
    metadata:
      labels: {app: %[1]s}
      annotations: {%[4]s}
    spec:
      containers:
        - name: main
          image: %[2]s
          envFrom:
            - configMapRef: {name: conf, optional: true}
`, name, image, replicas, podAnnotations)
}

func configMap(name string, data ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {%s}\n", name,
		strings.Join(data, ", "))
}

const serviceYAML = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
`
