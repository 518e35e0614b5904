// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/goldentest"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
	"github.com/pipedeck/pipedeck/system/porttest"
)

var (
	deployments, configMaps = clustertest.Deployments, clustertest.ConfigMaps
	services, namespaces    = clustertest.Services, clustertest.Namespaces
)

type commit = clustertest.Commit

// fleet is an application of several deploy targets, and a plugin that deploys it.
type fleet struct {
	t      *testing.T
	h      *wiretest.Harness
	client *cluster.Client
	id     string
	// kubeconfigs are those of the targets.
	kubeconfigs map[string]string
	// plugin is YAML: spec.plugins.kubernetes_multicluster; pipeline is YAML below spec.
	plugin   string
	pipeline string
	created  time.Time
	stages   int
	// index is the position of the next stage in the pipeline.
	index int32
	// deployment is the id of the deployment; empty for one that is always the same.
	deployment string
}

// fleetTarget is one deploy target of the tests.
type fleetTarget struct {
	name   string
	labels map[string]string
	// user acts in the cluster; empty is the administrator.
	user string
	// away is a cluster that cannot be reached; leaves is one that will not be any more.
	away, leaves bool
}

// newFleet creates a namespace for each deploy target: that has the effect of so many clusters, as long as no manifest
// names a namespace.
func newFleet(t *testing.T, targets ...fleetTarget) *fleet {
	t.Helper()
	admin := clustertest.Kubeconfig(t)
	id := fmt.Sprintf("multi-e2e-%d", time.Now().UnixNano())
	f := &fleet{
		t: t, id: id, created: time.Now(), kubeconfigs: map[string]string{},
		plugin: "{input: {failureGrace: 300ms, rolloutTimeout: 60s}}",
	}
	f.client = clustertest.Connect(t, admin)
	var entries []sdk.DeployTargetConfig
	for _, target := range targets {
		at := map[string]any{"kubeConfigPath": f.kubeconfig(admin, target)}
		if target.away || target.leaves {
			at["connectTimeout"] = "300ms"
		}
		data, err := json.Marshal(at)
		require.NoError(t, err)
		entries = append(entries, sdk.DeployTargetConfig{Name: target.name, Labels: target.labels, Config: data})
	}
	f.h = wiretest.Start(t, sdk.ForDeployment(newPlugin(engine.New())),
		wiretest.Options{Name: "kubernetes_multicluster", DeployTargets: entries})
	return f
}

// kubeconfig makes the namespace of a target, and a kubeconfig that leads there.
func (f *fleet) kubeconfig(admin string, target fleetTarget) string {
	f.t.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": f.namespace(target.name)}}}
	_, err := f.client.Dynamic.Resource(namespaces).Create(f.t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(f.t, err)
	clustertest.RemoveNamespace(f.t, f.client, f.namespace(target.name))
	loaded, err := clientcmd.LoadFromFile(admin)
	require.NoError(f.t, err)
	at := loaded.Contexts[loaded.CurrentContext]
	at.Namespace = f.namespace(target.name)
	if target.away {
		loaded.Clusters[at.Cluster].Server = f.unusedAddress()
	}
	if target.user != "" {
		loaded.AuthInfos[at.AuthInfo].Impersonate = target.user
	}
	path := filepath.Join(f.t.TempDir(), "kubeconfig-"+target.name)
	require.NoError(f.t, clientcmd.WriteToFile(*loaded, path))
	f.kubeconfigs[target.name] = path
	return path
}

// unusedAddress is an address where no one listens.
func (f *fleet) unusedAddress() string {
	f.t.Helper()
	return "https://" + porttest.Address(f.t)
}

// leaves makes the cluster of a target one that cannot be reached.
func (f *fleet) leaves(target string) {
	f.t.Helper()
	loaded, err := clientcmd.LoadFromFile(f.kubeconfigs[target])
	require.NoError(f.t, err)
	loaded.Clusters[loaded.Contexts[loaded.CurrentContext].Cluster].Server = f.unusedAddress()
	require.NoError(f.t, clientcmd.WriteToFile(*loaded, f.kubeconfigs[target]))
}

func (f *fleet) namespace(target string) string { return f.id + "-" + target }

func (f *fleet) source(c *commit) *common.DeploymentSource {
	return c.Source(f.t, fmt.Sprintf("%s  plugins:\n    kubernetes_multicluster: %s\n", f.pipeline, f.plugin))
}

// run runs a stage, and gives its log and its metadata.
func (f *fleet) run(stage, options string, target, running *commit) (status model.StageStatus, log string,
	metadata map[string]string) {
	f.t.Helper()
	return f.between(stage, options, f.source(target), f.source(running))
}

// between is run with sources, which may have different configurations.
func (f *fleet) between(stage, options string, target, running *common.DeploymentSource) (status model.StageStatus,
	log string, metadata map[string]string) {
	f.t.Helper()
	f.stages++
	id := fmt.Sprintf("stage-%d", f.stages)
	status, log, err := clustertest.Stage{
		Name: stage, Options: options, ID: id, Index: f.index, ApplicationID: f.id, Created: f.created,
		Deployment: f.deployment, Target: target, Running: running,
	}.Execute(f.t.Context(), f.h)
	require.NoError(f.t, err)
	return status, log, f.h.Piped.StageMetadata(id)
}

func (f *fleet) succeeds(stage, options string, target, running *commit) (log string, metadata map[string]string) {
	f.t.Helper()
	status, log, metadata := f.run(stage, options, target, running)
	require.Equal(f.t, model.StageStatus_STAGE_SUCCESS, status, log)
	return log, metadata
}

func (f *fleet) fails(stage, options string, target, running *commit) (log string, metadata map[string]string) {
	f.t.Helper()
	status, log, metadata := f.run(stage, options, target, running)
	require.Equal(f.t, model.StageStatus_STAGE_FAILURE, status, log)
	return log, metadata
}

// results are those of a stage's targets, as users are shown them.
func results(t *testing.T, metadata map[string]string) map[string]sdk.TargetResult {
	t.Helper()
	var list []sdk.TargetResult
	require.NoError(t, json.Unmarshal([]byte(metadata[sdk.TargetsMetadataKey]), &list))
	found := map[string]sdk.TargetResult{}
	for _, r := range list {
		found[r.Name] = r
	}
	return found
}

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// golden compares the application's objects at targets with testdata/golden/<name>.yaml.
func (f *fleet) golden(name string, targets ...string) {
	f.t.Helper()
	var text strings.Builder
	for _, target := range targets {
		objects := goldentest.Objects(f.t, f.client, f.namespace(target), f.id, configMaps, services, deployments)
		text.WriteString("# " + target + "\n" + strings.ReplaceAll(objects, f.id, "APPLICATION"))
	}
	goldentest.Compare(f.t, name, text.String(), *updateGolden)
}

// has looks for an object at a target.
func (f *fleet) has(target string, gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	f.t.Helper()
	return clustertest.Namespace{Client: f.client, Name: f.namespace(target)}.Get(f.t, gvr, name)
}

func (f *fleet) hasNot(target string, gvr schema.GroupVersionResource, name string) {
	f.t.Helper()
	clustertest.Namespace{Client: f.client, Name: f.namespace(target)}.Absent(f.t, gvr, name)
}

func (f *fleet) image(target, deployment string) any {
	f.t.Helper()
	containers, _, err := unstructured.NestedSlice(f.has(target, deployments, deployment).Object, "spec", "template",
		"spec", "containers")
	require.NoError(f.t, err)
	return containers[0].(map[string]any)["image"]
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: b}\n"
}

const serviceYAML = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web, pipecd.dev/variant: primary}
  ports: [{port: 80, targetPort: 8080}]
`
