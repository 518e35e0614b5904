// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/document"
)

const chartYAML = "apiVersion: v2\nname: front\nversion: 0.1.0\n"

func TestInitRendersWhatItFinds(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{
		"k8s/web.yaml": someDeployment + "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n" +
			"apiVersion: v1\nkind: Service\nmetadata: {name: other}\n",
		"charts/front/Chart.yaml":  chartYAML,
		"charts/front/values.yaml": "count: 2\n",
		"charts/front/templates/c.yaml": "{{ range until (int .Values.count) }}\n---\napiVersion: v1\n" +
			"kind: ConfigMap\nmetadata: {name: front-{{ . }}}\n{{ end }}\n",
		"overlays/prod/kustomization.yaml": "resources: [../../base]\nnamePrefix: prod-\n",
		"base/kustomization.yaml":          "resources: [s.yaml]\n",
		"base/s.yaml":                      "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n",
	})
	code, stdout, stderr := command(t.Context(), t.TempDir(), "init", dir)
	require.Zero(t, code, stderr)
	require.NotContains(t, stderr, "not rendered")
	for file, want := range map[string]string{
		"k8s":           "3 objects: 1 Deployment, 2 Service",
		"charts/front":  "2 objects: 2 ConfigMap",
		"overlays/prod": "1 object: 1 Secret",
	} {
		require.Regexp(t, "(?m)^"+file+"/app.pipecd.yaml: .*\n  "+want+"$", stdout)
	}
}

func TestInitNamesThePlaceOfWhatCannotBeRendered(t *testing.T) {
	t.Parallel()
	dir := ownRepository(t, map[string]string{
		"charts/front/Chart.yaml": chartYAML,
		"charts/front/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n" +
			"  name: {{ required \"name is needed\" .Values.name }}\n",
		"charts/remote/Chart.yaml": "apiVersion: v2\nname: remote\nversion: 0.1.0\ndependencies:\n" +
			"  - {name: redis, version: 1.0.0, repository: https://charts.invalid/stable}\n",
		"charts/remote/templates/c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
		"prod/kustomization.yaml":        "resources: [c.yaml]\npatches: [{path: p.yaml}]\n",
		"prod/c.yaml":                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
		"prod/p.yaml":                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nowhere}\n",
		"good/c.yaml":                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n",
	})
	code, stdout, _ := command(t.Context(), t.TempDir(), "init", dir, "-o", "json")
	var found document.Initialization
	clitest.Document(t, "initialization", stdout, &found)
	require.Zero(t, code, stdout)
	require.Empty(t, found.Unrendered)
	at := map[string]document.InitializedApplication{}
	for _, a := range found.Applications {
		at[a.File] = a
		require.Equal(t, a.RenderError == "", len(a.Objects) > 0, a.File)
	}
	front := at["charts/front/app.pipecd.yaml"]
	require.Contains(t, front.RenderError, "name is needed")
	require.Equal(t, "charts/front/templates/c.yaml:4:11", front.RenderPlace)
	require.Contains(t, at["charts/remote/app.pipecd.yaml"].RenderError, "nothing is fetched from the network here")
	require.Contains(t, at["prod/app.pipecd.yaml"].RenderError, "nowhere")
	require.Equal(t, []document.ObjectCount{{Kind: "ConfigMap", Count: 1}}, at["good/app.pipecd.yaml"].Objects)

	_, stdout, _ = command(t.Context(), t.TempDir(), "init", dir)
	require.Regexp(t, `(?m)^  cannot be rendered: .*charts/front/templates/c.yaml:4:11.*name is needed`, stdout)
}
