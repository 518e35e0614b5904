// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

// shared is a repository with what applications have in common.
var shared = map[string]string{
	"common/settings.yaml":        "a: 1\n",
	"manifests/web.yaml":          "kind: Service\n",
	"manifests/notes.txt":         "nothing that is deployed\n",
	"charts/web/Chart.yaml":       "name: web\ndependencies:\n- {name: lib, repository: 'file://../lib'}\n",
	"charts/web/values.yaml":      "a: 1\n",
	"charts/web/templates/a.yaml": "kind: Service\n",
	"charts/lib/Chart.yaml":       "name: lib\ntype: library\n",
	"base/kustomization.yaml":     "resources: [web.yaml, ../deeper]\n",
	"base/web.yaml":               "kind: Service\n",
	"deeper/kustomization.yml":    "resources: [db.yaml]\npatches: [{path: ../patches/db.yaml}]\n",
	"deeper/db.yaml":              "kind: Service\n",
	"patches/db.yaml":             "kind: Service\n",
	"apps/overlay/kustomization.yaml": "resources: [../../base, own.yaml]\nconfigMapGenerator:\n" +
		"- {name: c, files: [settings=../../common/settings.yaml]}\n",
	"apps/overlay/own.yaml":             "kind: Service\n",
	"apps/loop/kustomization.yaml":      "resources: [../loop2]\n",
	"apps/loop2/kustomization.yaml":     "resources: [../loop]\n",
	"kustomization.yaml":                "resources: [root.yaml]\n",
	"root.yaml":                         "kind: Service\n",
	"apps/uses-root/kustomization.yaml": "resources: [../..]\n",
}

func TestInputsOutsideOfTheDirectoryThatNoPathCoversAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range shared {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	kubernetes := func(input string) string { return "plugins: {kubernetes: {input: " + input + "}}" }
	trigger := func(rule string) string { return "\n  trigger: {onCommit: " + rule + "}" }
	chart := kubernetes("{helmChart: {path: ../../charts/web}, helmOptions: {valueFiles: [../../common/settings.yaml" +
		", values.yaml, 'https://example.com/v.yaml']}}")
	for name, c := range map[string]struct {
		folder, spec string
		missed       string
	}{
		"a chart, its neighbour and a file with values": {"apps/web", chart,
			"charts/lib, charts/web, common/settings.yaml"},
		"with a path for each": {"apps/web", chart + trigger("{paths: [charts, common/*.yaml]}"), ""},
		"a part of a chart": {"apps/web", chart + trigger("{paths: [charts/web/templates/**, charts/lib, common]}"),
			"charts/web"},
		"what is ignored on purpose": {"apps/web", chart + trigger("{paths: [charts], ignores: [common/**]}"), ""},
		"no trigger by commits":      {"apps/web", chart + trigger("{disabled: true}"), ""},
		"manifests": {"apps/web", kubernetes("{manifests: [../../manifests, ../../common/settings.yaml, own.yaml]}"),
			"common/settings.yaml, manifests"},
		"the other files of a folder": {"apps/web", kubernetes("{manifests: [../../manifests]}") +
			trigger("{paths: [manifests/*.yaml]}"), ""},
		"the base of an overlay, and what that uses": {"apps/overlay", kubernetes("{}"),
			"base, common/settings.yaml, deeper, patches/db.yaml"},
		"an overlay with paths": {"apps/overlay", kubernetes("{}") +
			trigger("{paths: [base, common/settings.yaml, deeper, patches]}"), ""},
		"a chart in place of a kustomization": {"apps/overlay", kubernetes("{helmChart: {path: ../../charts/lib}}"),
			"charts/lib"},
		"a base around the application":      {"apps/uses-root", kubernetes("{}"), "kustomization.yaml, root.yaml"},
		"kustomizations that use each other": {"apps/loop", kubernetes("{}"), "apps/loop2"},
		"several targets": {"apps/web", "plugins: {kubernetes_multicluster: {input: {multiTargets: [{target: " +
			"{name: a}, manifests: [../../manifests/web.yaml]}]}}}", "manifests/web.yaml"},
		"another plugin":            {"apps/overlay", "plugins: {scriptrun: {}}", ""},
		"a file that is missing":    {"apps/web", kubernetes("{manifests: [../../nowhere.yaml]}"), ""},
		"all of the repository":     {".", kubernetes("{}"), ""},
		"outside of the repository": {"apps/web", kubernetes("{manifests: [../../../elsewhere.yaml]}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := c.folder + "/app.pipecd.yaml"
			report := config.Check([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n  "+
				c.spec+"\n"), file)
			require.Empty(t, report.Errors)
			WarnOutside(WorkTree(root), file, report)
			if c.missed == "" {
				require.Empty(t, report.Warnings)
				return
			}
			require.Len(t, report.Warnings, 1)
			require.Contains(t, report.Warnings[0].Error(),
				"the application uses "+c.missed+" outside of its directory")
		})
	}
}
