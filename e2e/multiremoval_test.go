// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// waitingHook is a hook before the deletion whose pod waits for a Secret of its name.
const waitingHook = `apiVersion: batch/v1
kind: Job
metadata: {name: save, annotations: {helm.sh/hook: pre-delete}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "save:v1", envFrom: [{secretRef: {name: save}}]}]
`

// inCluster is the namespace default of a cluster of an environment.
type inCluster struct {
	t      *testing.T
	client dynamic.Interface
}

func (e *environment) inCluster(name string) inCluster {
	e.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", e.Dir("kubeconfig-"+name))
	require.NoError(e.t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(e.t, err)
	return inCluster{e.t, client}
}

// names are those of the objects of a kind, but for what each cluster has.
func (c inCluster) names(group, resource string) (found []string) {
	c.t.Helper()
	all, err := c.client.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}).
		Namespace("default").List(c.t.Context(), metav1.ListOptions{})
	require.NoError(c.t, err)
	for _, o := range all.Items {
		if o.GetName() != "kube-root-ca.crt" && o.GetName() != "kubernetes" {
			found = append(found, o.GetName())
		}
	}
	return found
}

// open creates the Secret that the hook waits for.
func (c inCluster) open() {
	c.t.Helper()
	_, err := c.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default").
		Create(c.t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{"name": "save"}}}, metav1.CreateOptions{})
	require.NoError(c.t, err)
}

func TestARemovalFromTwoClustersGoesOnAfterPipedAndThePluginAreKilled(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	const stays = "  plugins: {kubernetes_multicluster: {}}\n"
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": strings.Replace(application("web", "  onRemoved: prune\n"), "kubernetes:",
			"kubernetes_multicluster:", 1),
		"web/deployment.yaml": simulated("web"), "web/save.yaml": waitingHook,
		"db/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: db\n" + stays,
		"db/deployment.yaml": simulated("db"),
	})
	s := e.start("up", repo, "--cluster", "tokyo=embedded", "--cluster", "london=embedded")
	for _, app := range []string{"web", "db"} {
		s.await(app+" is healthy", func(ev event) bool {
			return ev.is("application", "name", app, "sync", "SYNCED", "health", "HEALTHY")
		})
	}
	tokyo, london := e.inCluster("tokyo"), e.inCluster("london")
	for _, c := range []inCluster{tokyo, london} {
		require.Equal(t, []string{"db", "web"}, c.names("apps", "deployments"))
	}
	gittest.Run(t, repo, "rm", "-rq", "web")
	gittest.Commit(t, repo, "delete")
	s.await("the hook waits in london", logged("[london] Waiting for 1 hook to end"))
	s.await("the hook waits in tokyo", logged("[tokyo] Waiting for 1 hook to end"))
	tokyo.open()
	s.await("tokyo is done", logged("[tokyo] Removed the application: 2 resources deleted"))
	require.Equal(t, []string{"db"}, tokyo.names("apps", "deployments"))
	require.Equal(t, []string{"db", "web"}, london.names("apps", "deployments"), "its hook has not ended")

	const goesOn = "[london] - Job default/save: an earlier attempt in this deployment has begun it"
	require.NoError(t, syscall.Kill(e.child("piped"), syscall.SIGKILL))
	s.await("the next attempt waits for the hook", logged(goesOn))
	require.NoError(t, syscall.Kill(e.pluginPID("kubernetes_multicluster"), syscall.SIGKILL))
	s.await("the attempt after that, too", nth(2, logged(goesOn)))
	require.Equal(t, []string{"db", "web"}, london.names("apps", "deployments"))
	london.open()
	s.await("london is done", logged("[london] Removed the application: 2 resources deleted"))
	waitUntil(t, "web to be gone", func() bool { return len(e.list("apps")) == 1 })
	for _, c := range []inCluster{tokyo, london} {
		require.Equal(t, []string{"db"}, c.names("apps", "deployments"))
		require.Empty(t, c.names("batch", "jobs"))
		require.Contains(t, c.names("", "secrets"), "save", "it is no application's")
	}
	removal := e.list("deployments")[0]
	require.Equal(t, "SUCCESS", removal["status"])
	s.interrupt()
	events, _ := s.wait()
	begun := 0
	for _, ev := range events {
		if logged("Running 1 hook before the deletion: Job save")(ev) && logged("[tokyo]")(ev) {
			begun++
		}
	}
	require.Equal(t, 1, begun, "nothing was left in tokyo")
}
