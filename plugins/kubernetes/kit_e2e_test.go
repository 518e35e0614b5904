// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// kubeconfigEnv names the kubeconfig of a running API. The tests make namespaces of their own in it.
const kubeconfigEnv = "PIPEDECK_TEST_KUBECONFIG"

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// app is an application with commits, and a plugin that deploys it to a separate namespace.
type app struct {
	t         *testing.T
	h         *sdktest.Harness
	client    *cluster.Client
	namespace string
	id        string
	// settings are added to spec.plugins.kubernetes.input; pipeline is YAML below spec.
	settings string
	pipeline string
	// created is when the deployment was.
	created time.Time
	stages  int
}

type commit struct {
	hash  string
	files map[string]string
}

func newApp(t *testing.T) *app {
	t.Helper()
	path := os.Getenv(kubeconfigEnv)
	require.NotEmpty(t, path, "set %s to the kubeconfig of a running API", kubeconfigEnv)
	return newAppAt(t, path)
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
func startPlugin(t *testing.T, kubeconfig string) *sdktest.Harness {
	t.Helper()
	target, err := json.Marshal(config.DeployTarget{KubeConfigPath: kubeconfig})
	require.NoError(t, err)
	return sdktest.Start(t, sdk.ForDeployment(newPlugin(engine.New())), sdktest.Options{
		Name: "kubernetes", DeployTargets: []sdk.DeployTargetConfig{{Name: "local", Config: target}},
	})
}

// live gives a client of the tests' own, and removes the namespace at the end.
func (a *app) live() *cluster.Client {
	a.t.Helper()
	if a.client == nil {
		pool := cluster.NewPool()
		a.t.Cleanup(pool.Close)
		var err error
		a.client, err = pool.Connect(a.t.Context(), config.DeployTarget{KubeConfigPath: os.Getenv(kubeconfigEnv)},
			discard{})
		require.NoError(a.t, err)
		a.t.Cleanup(func() {
			r := a.client.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
			err := r.Delete(context.Background(), a.namespace, metav1.DeleteOptions{})
			if !apierrors.IsNotFound(err) {
				require.NoError(a.t, err)
			}
		})
	}
	return a.client
}

type discard struct{}

func (discard) Infof(string, ...any) {}

func (a *app) source(c *commit) *common.DeploymentSource {
	if c == nil {
		return nil
	}
	dir := a.t.TempDir()
	for name, text := range c.files {
		path := filepath.Join(dir, name)
		require.NoError(a.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(a.t, os.WriteFile(path, []byte(text), 0o600))
	}
	yaml := fmt.Sprintf("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: demo\n%s  plugins:\n"+
		"    kubernetes:\n      input: {namespace: %s, %s}\n",
		a.pipeline, a.namespace, a.settings)
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: c.hash, ApplicationConfig: []byte(yaml),
		ApplicationConfigFilename: "app.pipecd.yaml", SharedConfigDirectory: filepath.Join(dir, ".pipe"),
	}
}

// run runs a stage and gives its log.
func (a *app) run(stage, options string, target, running *commit) (model.StageStatus, string) {
	a.t.Helper()
	return a.runIn(a.t.Context(), stage, options, target, running)
}

func (a *app) runIn(ctx context.Context, stage, options string, target, running *commit) (model.StageStatus, string) {
	a.t.Helper()
	a.stages++
	req := a.h.Request(stage, options)
	req.Input.Deployment.ApplicationId = a.id
	req.Input.Deployment.CreatedAt = a.created.Unix()
	req.Input.Stage.Id = fmt.Sprintf("stage-%d", a.stages)
	req.Input.TargetDeploymentSource, req.Input.RunningDeploymentSource = a.source(target), a.source(running)
	resp, err := a.h.Deployment.ExecuteStage(ctx, req)
	log := a.h.Piped.Log(req.Input.Stage.Id)
	if err != nil {
		return model.StageStatus_STAGE_CANCELLED, log
	}
	return resp.GetStatus(), log
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
	}, 20*time.Second, 20*time.Millisecond)
	a.h, a.created = startPlugin(a.t, os.Getenv(kubeconfigEnv)), time.Now()
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
	o, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).Get(a.t.Context(), name, metav1.GetOptions{})
	require.NoError(a.t, err)
	return o
}

func (a *app) absent(gvr schema.GroupVersionResource, name string) {
	a.t.Helper()
	require.Eventually(a.t, func() bool {
		_, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).Get(a.t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, 20*time.Second, 20*time.Millisecond, "%s %s is still there", gvr.Resource, name)
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
