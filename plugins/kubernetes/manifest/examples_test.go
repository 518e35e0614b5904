// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// overlays is a base with overlays and a component, as the books on kustomize have it.
var overlays = map[string]string{
	"base/kustomization.yaml": "resources: [deployment.yaml, service.yaml]\nconfigMapGenerator:\n" +
		"- name: settings\n  files: [settings.ini]\n",
	"base/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - name: main
        image: registry.example:5000/shop:v1
        envFrom: [{configMapRef: {name: settings}}]
`,
	"base/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\n" +
		"spec: {selector: {app: shop}, ports: [{port: 80}]}\n",
	"base/settings.ini": "colour=blue\n",
	"monitored/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" +
		"resources: [monitor.yaml]\n",
	"monitored/monitor.yaml": "apiVersion: monitoring.example/v1\nkind: Monitor\n" +
		"metadata: {name: shop}\nspec: {path: https://shop.example/metrics}\n",
	"overlays/prod/replicas.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\n" +
		"spec: {replicas: 5}\n",
	"overlays/prod/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\n",
	"overlays/prod/kustomization.yaml": `resources: [../../base]
components: [../../monitored]
namespace: prod
nameSuffix: -prod
labels: [{pairs: {stage: prod}}]
patches:
- path: replicas.yaml
- target: {kind: Service}
  patch: |-
    - {op: replace, path: /spec/ports/0/port, value: 8080}
images: [{name: "registry.example:5000/shop", newTag: v2}]
`,
}

func TestAnOverlayWithAComponentIsRendered(t *testing.T) {
	t.Parallel()
	root := write(t, overlays)
	manifests, err := load(t, manifest.Request{Dir: filepath.Join(root, "overlays/prod"), Root: root})
	require.NoError(t, err)
	byKind := map[string]manifest.Manifest{}
	for _, m := range manifests {
		byKind[m.GetKind()] = m
		require.Equal(t, "prod", m.GetNamespace())
		require.Equal(t, "prod", m.GetLabels()["stage"])
	}
	require.Len(t, byKind, 4)
	deployment := byKind["Deployment"]
	require.Equal(t, "shop-prod", deployment.GetName())
	require.EqualValues(t, 5, deployment.Object["spec"].(map[string]any)["replicas"])
	require.Equal(t, []string{"registry.example:5000/shop:v2"}, manifest.References(manifests))
	require.Equal(t, byKind["ConfigMap"].GetName(), manifest.ConfigReferences(manifest.PodSpec(deployment))[0].Name())
	for kind, origin := range map[string]string{
		"Deployment": "../../base/deployment.yaml:1", "Service": "../../base/service.yaml:1",
		"Monitor":   "../../monitored/monitor.yaml:1",
		"ConfigMap": "../../base/kustomization.yaml",
	} {
		require.Equal(t, origin, byKind[kind].Origin.String())
	}
}

// many is an application of 500 manifests in 50 files.
func many() map[string]string {
	files := map[string]string{}
	for i := range 50 {
		var text strings.Builder
		for j := range 10 {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-%02d-%d\n"+
				"  labels: {app: many, part: \"%d\"}\ndata:\n", i, j, j)
			for k := range 20 {
				fmt.Fprintf(&text, "  key-%d: some value %d\n", k, k)
			}
		}
		files[fmt.Sprintf("config-%02d.yaml", i)] = text.String()
	}
	return files
}

func TestFiveHundredManifestsAreLoadedInOrder(t *testing.T) {
	t.Parallel()
	manifests, err := load(t, manifest.Request{Dir: write(t, many())})
	require.NoError(t, err)
	require.Len(t, manifests, 500)
	require.Equal(t, "config-00-0", manifests[0].GetName())
	require.Equal(t, "config-49-9", manifests[499].GetName())
	require.Equal(t, "config-49.yaml:245", manifests[499].Origin.String())
}

func TestADefinitionMayStandNextToItsResources(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"all.yaml": "apiVersion: v1\nkind: List\nitems:\n- &a\n  apiVersion: web.example/v1\n  kind: Widget\n" +
			"  metadata: {name: one}\n  spec: &spec {size: 1}\n- {<<: *a, metadata: {name: two}}\n---\n---\n" +
			"# nothing\n",
		"crd.json": "{\n\t\"apiVersion\": \"apiextensions.k8s.io/v1\", \"kind\": \"CustomResourceDefinition\", " +
			"\"metadata\": {\"name\": \"widgets.web.example\"}\n}\n",
	})
	manifests, err := load(t, manifest.Request{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, []string{"Widget//one", "Widget//two", "CustomResourceDefinition//widgets.web.example"},
		names(manifests))
	require.Equal(t, map[string]any{"size": int64(1)}, manifests[1].Object["spec"])
	require.Equal(t, "crd.json:1", manifests[2].Origin.String())
}

func BenchmarkLoadFiveHundredManifests(b *testing.B) {
	dir := b.TempDir()
	for name, text := range many() {
		if err := writeFile(filepath.Join(dir, name), text); err != nil {
			b.Fatal(err)
		}
	}
	for name, loader := range map[string]func() *manifest.Loader{"new": manifest.NewLoader, "kept": sameLoader()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := loader().Load(b.Context(), manifest.Request{Dir: dir}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoadAnOverlay(b *testing.B) {
	root := b.TempDir()
	for name, text := range overlays {
		if err := writeFile(filepath.Join(root, name), text); err != nil {
			b.Fatal(err)
		}
	}
	for name, loader := range map[string]func() *manifest.Loader{"new": manifest.NewLoader, "kept": sameLoader()} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := loader().Load(b.Context(), manifest.Request{Dir: filepath.Join(root, "overlays/prod"),
					Root: root}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func sameLoader() func() *manifest.Loader {
	loader := manifest.NewLoader()
	return func() *manifest.Loader { return loader }
}
