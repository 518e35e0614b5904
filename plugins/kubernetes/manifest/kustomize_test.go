// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const overlay = "resources: [../base]\nnamePrefix: k-\nimages: [{name: app, newTag: v3}]\nconfigMapGenerator: [{name: gen, literals: [n=y]}]\n"

func kustomizeFiles() map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources: [deployment.yaml]\n",
		"base/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: kk}
spec:
  selector: {matchLabels: {app: kk}}
  template:
    metadata: {labels: {app: kk}}
    spec:
      containers:
        - {name: main, image: app, envFrom: [{configMapRef: {name: gen}}]}
`,
		"app/kustomization.yaml": overlay,
		"app/ignored.yaml":       "this: is not loaded\n",
	}
}

func TestAKustomizationIsRenderedWithItsBases(t *testing.T) {
	t.Parallel()
	root := write(t, kustomizeFiles())
	manifests, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root, Namespace: "prod"})
	require.NoError(t, err)
	require.Len(t, manifests, 2)
	config, deployment := manifests[0], manifests[1]
	if config.GetKind() != "ConfigMap" {
		config, deployment = deployment, config
	}
	require.Equal(t, "k-kk", deployment.GetName())
	require.Equal(t, "prod", deployment.GetNamespace())
	require.Equal(t, "v3", manifest.Images(deployment)[0].Tag)
	require.Equal(t, map[string]any{"n": "y"}, config.Object["data"])
	require.Equal(t, config.GetName(), manifest.ConfigReferences(manifest.PodSpec(deployment))[0].Name())
	require.Equal(t, "kustomization.yaml", deployment.Origin.String())
}

func TestOneLoaderRendersSeveralKustomizationsAtOnce(t *testing.T) {
	t.Parallel()
	loader := manifest.NewLoader()
	var group sync.WaitGroup
	for range 4 {
		root := write(t, kustomizeFiles())
		group.Go(func() {
			manifests, err := loader.Load(t.Context(), manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
			if err != nil || len(manifests) != 2 {
				t.Errorf("got %d manifests: %v", len(manifests), err)
			}
		})
	}
	group.Wait()
}

func TestAKustomizationMayNotLeaveTheRepository(t *testing.T) {
	t.Parallel()
	root := write(t, kustomizeFiles())
	_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app")})
	require.ErrorContains(t, err, "outside of the repository")
}

func TestAMistakeInAKustomizationIsToldWithoutThePathOfTheCheckout(t *testing.T) {
	t.Parallel()
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: [missing.yaml]\n"
	root := write(t, files)
	_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.ErrorContains(t, err, "kustomization.yaml: kustomize:")
	require.ErrorContains(t, err, "missing.yaml")
	require.NotContains(t, err.Error(), root)
}

func TestAnOptionOfKustomizeThatIsNotKnownIsAnError(t *testing.T) {
	t.Parallel()
	root := write(t, kustomizeFiles())
	_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root, KustomizeOptions: map[string]string{"enable-helm": ""}})
	require.ErrorContains(t, err, "input.kustomizeOptions.enable-helm: not supported yet")
	_, err = load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root, KustomizeOptions: map[string]string{"load-restrictor": "LoadRestrictionsNone"}})
	require.NoError(t, err)
}
