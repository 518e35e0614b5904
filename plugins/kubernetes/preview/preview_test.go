// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/system/porttest"
)

// source writes a commit with one ConfigMap.
func source(t *testing.T, commit, value, configuration string) *stage.Source {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conf.yaml"),
		[]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conf}\ndata: {v: "+value+"}\n"), 0o600))
	s := &stage.Source{Dir: dir, CommitHash: commit, ConfigFilename: "app.pipecd.yaml",
		ConfigData: []byte(configuration)}
	require.NoError(t, s.App.Validate())
	return s
}

// unreachable is a previewer, and a deploy target whose cluster no one answers for.
func unreachable(t *testing.T, name string) (*Previewer, stage.Target) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\n"+
		"current-context: c\nclusters: [{name: c, cluster: {server: \"https://"+porttest.Address(t)+
		"\"}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: t}}]\n"), 0o600))
	pool := cluster.NewPool()
	t.Cleanup(pool.Close)
	p := New(stage.NewLoader(manifest.NewLoader(), imagebuilder.Client{}, nil), pool)
	p.reach = 300 * time.Millisecond
	return p, stage.Target{Name: name, Config: config.DeployTarget{KubeConfigPath: kubeconfig}}
}

func TestWithoutAClusterTheCommitsAreCompared(t *testing.T) {
	t.Parallel()
	p, first := unreachable(t, "first")
	second := first
	second.Name = "second"
	before := source(t, "1", "old", "")
	previews, err := p.Preview(t.Context(), Query{ApplicationID: "a", Destinations: []Destination{
		{Target: first, Running: before, Wanted: source(t, "2", "new", "")},
		{Target: second, Running: before, Wanted: source(t, "2", "newer", "")},
	}})
	require.NoError(t, err)
	require.Len(t, previews, 2)
	require.Equal(t, "0 added manifests, 1 changed manifests, 0 deleted manifests", previews[0].Summary)
	require.Contains(t, previews[0].Details, "# the cluster of deploy target first cannot be reached, so this is "+
		"the difference from the running commit")
	require.Contains(t, previews[0].Details, "-  v: old\n+  v: new\n")
	require.Equal(t, "second", previews[1].Target)
	require.Contains(t, previews[1].Details, "-  v: old\n+  v: newer\n")
}

func TestAnErrorNamesEveryDeployTargetThatHasOne(t *testing.T) {
	t.Parallel()
	p, first := unreachable(t, "first")
	broken := source(t, "2", "new", "")
	require.NoError(t, os.WriteFile(filepath.Join(broken.Dir, "conf.yaml"), []byte("a: [\n"), 0o600))
	_, err := p.Preview(t.Context(), Query{ApplicationID: "a",
		Destinations: []Destination{{Target: first, Wanted: source(t, "2", "new", "")},
			{Target: first, Wanted: broken}}})
	require.ErrorContains(t, err, "conf.yaml")
}

func TestARouteIsPreviewedAsThePipelineLeavesIt(t *testing.T) {
	t.Parallel()
	p, target := unreachable(t, "first")
	configuration := "spec:\n  planner: {alwaysUsePipeline: true}\n" +
		"  pipeline: {stages: [{name: K8S_TRAFFIC_ROUTING, with: {canary: 10}}]}\n"
	to := Destination{Target: target, Running: source(t, "1", "old", ""), Wanted: source(t, "2", "old", configuration)}
	to.Wanted.App.TrafficRouting.Method = config.MethodIstio
	to.Wanted.App.Service.Name = "web"
	q := Query{ApplicationID: "a", Destinations: []Destination{to}}
	_, err := p.Preview(t.Context(), q)
	require.ErrorContains(t, err, "a stage of the pipeline would fail: there is no VirtualService")

	route := "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: web}\n" +
		"spec: {http: [{route: [{destination: {host: web, subset: primary}, weight: 100}]}]}\n"
	for _, s := range []*stage.Source{to.Running, to.Wanted} {
		require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "route.yaml"), []byte(route), 0o600))
	}
	previews, err := p.Preview(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, "0 added manifests, 1 changed manifests, 0 deleted manifests", previews[0].Summary)
	require.Contains(t, previews[0].Details, "-      weight: 100\n")
	require.Contains(t, previews[0].Details, "+        subset: canary\n+      weight: 10\n")

	to.Wanted.ConfigData = nil // a quick sync leaves what is in Git
	previews, err = p.Preview(t.Context(), q)
	require.NoError(t, err)
	require.True(t, previews[0].NoChange, previews[0].Details)
}

func TestPruningIsThatOfTheStagesThatWouldRun(t *testing.T) {
	t.Parallel()
	pipeline := func(planner, stages string) string {
		return "spec:\n  planner: {" + planner + "}\n  pipeline: {stages: [" + stages + "]}\n"
	}
	for name, c := range map[string]struct {
		configuration string
		quickPrune    bool
		first         bool
		want          pruning
	}{
		"quick sync": {configuration: "", quickPrune: true, want: pruning{enabled: true}},
		"off":        {configuration: "", want: pruning{}},
		"pipeline": {configuration: pipeline("",
			"{name: K8S_PRIMARY_ROLLOUT, with: {prune: true}}"), want: pruning{enabled: true, onlyPrimary: true}},
		"pipeline with sync": {configuration: pipeline("", "{name: K8S_SYNC, with: {prune: true}}"),
			want: pruning{enabled: true}},
		"pipeline without": {configuration: pipeline("", "{name: K8S_PRIMARY_ROLLOUT}"), quickPrune: true,
			want: pruning{onlyPrimary: true}},
		"first deployment, quick": {configuration: pipeline("", "{name: K8S_PRIMARY_ROLLOUT}"), quickPrune: true,
			first: true, want: pruning{enabled: true}},
		"first deployment, pipeline set": {configuration: pipeline("alwaysUsePipeline: true",
			"{name: K8S_PRIMARY_ROLLOUT}"), quickPrune: true, first: true, want: pruning{onlyPrimary: true}},
	} {
		wanted := source(t, "2", "new", c.configuration)
		wanted.App.QuickSync.Prune = c.quickPrune
		workload := func(image string) []manifest.Manifest {
			return []manifest.Manifest{object(t, "apiVersion: apps/v1\nkind: Deployment\n"+
				"metadata: {name: d}\nspec: {template: {spec: {containers: [{name: c, image: "+image+"}]}}}\n")}
		}
		running := workload("a:v1")
		if c.first {
			running = nil
		}
		got, err := pruneRule(wanted, running, workload("a:v2"))
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

func TestWithoutAClusterWhatPruningKeepsIsNamed(t *testing.T) {
	t.Parallel()
	p, target := unreachable(t, "first")
	before, after := source(t, "1", "old", ""), source(t, "2", "old", "")
	require.NoError(t, os.WriteFile(filepath.Join(before.Dir, "more.yaml"), []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: precious, annotations: {helm.sh/resource-policy: keep}}
---
apiVersion: v1
kind: Namespace
metadata: {name: extra}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}
`), 0o600))
	hook := "apiVersion: batch/v1\nkind: Job\n" +
		"metadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}\nspec: {backoffLimit: 1}\n"
	require.NoError(t, os.WriteFile(filepath.Join(after.Dir, "hook.yaml"), []byte(hook), 0o600))
	after.App.QuickSync.Prune = true
	previews, err := p.Preview(t.Context(), Query{ApplicationID: "a",
		Destinations: []Destination{{Target: target, Running: before, Wanted: after}}})
	require.NoError(t, err)
	require.Equal(t, "0 added manifests, 0 changed manifests, 1 deleted manifests", previews[0].Summary)
	for _, note := range []string{
		"# ConfigMap precious would be kept, because of its annotation helm.sh/resource-policy: keep\n",
		"# Namespace extra would be kept if it holds objects that are not deleted with it, which only the cluster " +
			"knows\n",
		"# Job migrate (helm.sh/hook: pre-install) would not run: this deployment is an upgrade\n",
	} {
		require.Contains(t, previews[0].Details, note)
	}
}
