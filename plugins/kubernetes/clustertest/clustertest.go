// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustertest gives tests of the plugins for Kubernetes the API that runs for them, and runs stages of
// applications there.
package clustertest

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
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
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// KubeconfigEnv names the kubeconfig of a running API. Each test creates its own namespaces in it.
const KubeconfigEnv = "PIPEDECK_TEST_KUBECONFIG"

// Resources that the tests look at.
var (
	Deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	ConfigMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	Services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	Namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
)

// Absent objects are waited for so long.
const (
	patience = 20 * time.Second
	interval = 20 * time.Millisecond
)

// Kubeconfig returns the path of the kubeconfig of the running API.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	path := os.Getenv(KubeconfigEnv)
	require.NotEmpty(t, path, "set %s to the kubeconfig of a running API", KubeconfigEnv)
	return path
}

// silent takes the lines of a log that no one reads.
type silent struct{}

func (silent) Infof(string, ...any) {}

// Connect returns a client of the cluster of a kubeconfig, which is closed when the test ends.
func Connect(t testing.TB, kubeconfig string) *cluster.Client {
	t.Helper()
	pool := cluster.NewPool()
	t.Cleanup(pool.Close)
	client, err := pool.Connect(t.Context(), config.DeployTarget{KubeConfigPath: kubeconfig}, silent{})
	require.NoError(t, err)
	return client
}

// RemoveNamespace deletes a namespace when the test ends, if it is there then.
func RemoveNamespace(t testing.TB, c *cluster.Client, name string) {
	t.Cleanup(func() {
		err := c.Dynamic.Resource(Namespaces).Delete(context.Background(), name, metav1.DeleteOptions{})
		if !apierrors.IsNotFound(err) {
			require.NoError(t, err)
		}
	})
}

// Namespace is a namespace of a cluster.
type Namespace struct {
	Client *cluster.Client
	Name   string
}

// Get returns an object, which has to be there.
func (n Namespace) Get(t testing.TB, gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	t.Helper()
	o, err := n.Client.Dynamic.Resource(gvr).Namespace(n.Name).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return o
}

// Absent waits until an object is gone.
func (n Namespace) Absent(t testing.TB, gvr schema.GroupVersionResource, name string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := n.Client.Dynamic.Resource(gvr).Namespace(n.Name).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, patience, interval, "%s %s is still in namespace %s", gvr.Resource, name, n.Name)
}

// Commit is a commit of an application: its files without the application configuration.
type Commit struct {
	Hash  string
	Files map[string]string
}

// Source writes the files of a commit to a new directory. settings are YAML: what stands in spec of the application
// configuration, indented by two. The source of no commit is nil.
func (c *Commit) Source(t testing.TB, settings string) *common.DeploymentSource {
	t.Helper()
	if c == nil {
		return nil
	}
	dir := t.TempDir()
	for name, text := range c.Files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: c.Hash, ApplicationConfigFilename: "app.pipecd.yaml",
		ApplicationConfig: []byte(
			"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: demo\n" + settings),
		SharedConfigDirectory: filepath.Join(dir, ".pipe"),
	}
}

// Stage is a stage of a deployment.
type Stage struct {
	Name, Options, ID string
	// Index is the position in the pipeline.
	Index int32
	// Deployment is the id of the deployment; empty for one that is always the same.
	Deployment    string
	ApplicationID string
	// Created is when the deployment was.
	Created time.Time
	// Running is nil before the first deployment.
	Target, Running *common.DeploymentSource
}

// Execute runs the stage and returns its log.
func (s Stage) Execute(ctx context.Context, h *wiretest.Harness) (status model.StageStatus, log string, err error) {
	req := h.Request(s.Name, s.Options)
	req.Input.Deployment.Id = cmp.Or(s.Deployment, req.GetInput().GetDeployment().GetId())
	req.Input.Deployment.ApplicationId = s.ApplicationID
	req.Input.Deployment.CreatedAt = s.Created.Unix()
	req.Input.Stage.Id, req.Input.Stage.Index = s.ID, s.Index
	req.Input.TargetDeploymentSource, req.Input.RunningDeploymentSource = s.Target, s.Running
	resp, err := h.Deployment.ExecuteStage(ctx, req)
	return resp.GetStatus(), h.Piped.Log(s.ID), err
}
