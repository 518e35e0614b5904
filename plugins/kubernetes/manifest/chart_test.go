// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func hook(kind, name, moments string) string {
	return "apiVersion: batch/v1\nkind: " + kind + "\nmetadata:\n  name: " + name +
		"\n  annotations: {helm.sh/hook: \"" + moments + "\"}\n"
}

func chartFiles() map[string]string {
	return map[string]string{
		"app/ignored.yaml":       configMap("not-loaded"),
		"app/kustomization.yaml": "resources: [ignored.yaml]\n",
		"app/web/Chart.yaml":     "{apiVersion: v2, name: web, version: 1.0.0}",
		"app/web/values.yaml":    "value: one\n",
		"app/web/templates/a.yaml": "{{ if true }}\napiVersion: v1\nkind: ConfigMap\n" +
			"metadata: {name: {{ .Release.Name }}}\ndata: {value: {{ .Values.value }}}\n{{ end }}",
		"app/web/templates/b.json": `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", ` +
			`"kind": "ConfigMap", "metadata": {"name": "j"}}]}`,
		"app/web/crds/c.yaml": "apiVersion: apiextensions.k8s.io/v1\n" +
			"kind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n",
		"app/web/templates/hook.yml": hook("Job", "migrate", "pre-install, pre-upgrade") + "---\n" +
			hook("Job", "bye", "pre-delete,post-delete") + "---\n" + hook("Pod", "check", "test") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: j, annotations: {helm.sh/hook: pre-install}}\n",
	}
}

func chartRequest(root string) manifest.Request {
	return manifest.Request{Dir: filepath.Join(root, "app"), Root: root, Namespace: "prod",
		Chart: &manifest.Chart{Path: "web", Release: "shop"}}
}

func TestAChartGoesBeforeEverythingElseAndItsHooksAreReported(t *testing.T) {
	t.Parallel()
	req := chartRequest(write(t, chartFiles()))
	var notes []string
	req.Note = func(note string) { notes = append(notes, note) }
	manifests, err := load(t, req)
	require.NoError(t, err)
	require.Equal(t, []string{"CustomResourceDefinition//widgets.example.com", "ConfigMap/prod/shop",
		"ConfigMap/prod/j", "Job/prod/migrate", "Job/prod/bye", "Pod/prod/check"}, names(manifests))
	require.Equal(t, "web/crds/c.yaml:1", manifests[0].Origin.String())
	require.Equal(t, "web/templates/a.yaml (rendered):2", manifests[1].Origin.String())
	require.Equal(t, []string{
		"Chart web 1.0.0 is rendered as release shop",
		"Left out, hook pre-install: ConfigMap j of web/templates/hook.yml: the chart has the same resource " +
			"without a hook",
	}, notes)
}

func TestMistakesInWhatAChartRendersAreNamedWithTheTemplate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  value: {{ .Values.value }}: x: y\n": "chart " +
			"web 1.0.0: web/templates/a.yaml (rendered):5: not valid YAML",
		"{{/* two\nlines */}}\nkind: ConfigMap\n": "chart web 1.0.0: web/templates/a.yaml (rendered):2: " +
			"not a Kubernetes object",
		hook("Job", "migrate",
			"pre-install"): "web/templates/hook.yml (rendered):1: Job prod/migrate is already defined at " +
			"web/templates/a.yaml (rendered):1",
	} {
		files := chartFiles()
		files["app/web/templates/a.yaml"] = text
		_, err := load(t, chartRequest(write(t, files)))
		require.ErrorContains(t, err, want)
	}
	files := chartFiles()
	files["app/web/templates/a.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, name: b}\n"
	manifests, err := load(t, chartRequest(write(t, files)))
	require.NoError(t, err, "helm lets a key be given twice")
	require.Equal(t, "b", manifests[1].GetName())
}

func TestOptionsOfAChartReachIt(t *testing.T) {
	t.Parallel()
	req := chartRequest(write(t, chartFiles()))
	req.Chart.Options = helm.Options{SetValues: map[string]string{"value": "two"}}
	manifests, err := load(t, req)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"value": "two"}, manifests[1].Object["data"])
}

func TestAChartInAnotherGitRepositoryIsNotReachable(t *testing.T) {
	t.Parallel()
	req := chartRequest(write(t, chartFiles()))
	req.Chart.Elsewhere = "app.pipecd.yaml:9"
	_, err := load(t, req)
	var remote *manifest.RemoteError
	require.ErrorAs(t, err, &remote)
	kind, place := remote.Cause()
	require.Equal(t, []string{"UNREACHABLE", "app.pipecd.yaml:9"}, []string{kind, place})
	require.ErrorContains(t, err, "app.pipecd.yaml:9: the chart of helmChart.gitRemote is on another machine")
}
