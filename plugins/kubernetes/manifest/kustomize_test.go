// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const overlay = "resources: [../base]\nnamePrefix: k-\nimages: [{name: app, newTag: v3}]\n" +
	"configMapGenerator: [{name: gen, literals: [n=y]}]\n"

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
	require.Equal(t, "../base/deployment.yaml:1", deployment.Origin.String())
	require.Equal(t, "../base/deployment.yaml:10", deployment.Origin.At("spec.template.spec.containers[0].image"))
	require.Equal(t, "kustomization.yaml", config.Origin.String())
	require.Empty(t, deployment.GetAnnotations())
	require.NotContains(t, config.Object["metadata"], "annotations")
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

func TestAMistakeInAKustomizationIsReportedWithoutThePathOfTheCheckout(t *testing.T) {
	t.Parallel()
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: [missing.yaml]\n"
	root := write(t, files)
	_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.EqualError(t, err, "kustomization.yaml:1: resources: there is no app/missing.yaml in the repository")
	require.NotContains(t, err.Error(), root)
}

func TestEachOptionOfKustomizeIsHonouredOrRefused(t *testing.T) {
	t.Parallel()
	root := write(t, kustomizeFiles())
	build := func(flag, value string) ([]manifest.Manifest, error) {
		return load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root,
			KustomizeOptions: map[string]string{flag: value}})
	}
	for flag, want := range map[string]string{
		"enable-alpha-plugins": "not possible here: plugins are programs, and none is run; allowed are load-restrictor",
		"as-current-user":      "no container is run", "network": "no container is run",
		"helm-command": "charts are rendered without a program",
		"output":       "the manifests are deployed, not written",
		"colour":       "not a flag of kustomize build; allowed are load-restrictor",
		"reorder":      `"" is neither legacy nor none`, "load-restrictor": `"" is neither LoadRestrictionsNone nor`,
	} {
		_, err := build(flag, "")
		require.ErrorContains(t, err, "input.kustomizeOptions."+flag+": ")
		require.ErrorContains(t, err, want)
	}
	_, err := build("enable-helm", "perhaps")
	require.ErrorContains(t, err, `"perhaps" is neither true nor false`)
	for flag, value := range map[string]string{"load-restrictor": "LoadRestrictionsNone", "--reorder": "none",
		"enable-helm": "", "helm-kube-version": "v1.30.0", "helm-api-versions": "a/v1"} {
		_, err = build(flag, value)
		require.NoError(t, err)
	}
	manifests, err := build("reorder", "legacy")
	require.NoError(t, err)
	require.Equal(t, "ConfigMap", manifests[0].GetKind(), "sorted by kind")
	manifests, err = build("enable-managedby-label", "true")
	require.NoError(t, err)
	require.Contains(t, manifests[0].GetLabels()["app.kubernetes.io/managed-by"], "kustomize-")
}

func TestBasesMayReachOutOfTheirFolderWhenTheRestrictorIsOff(t *testing.T) {
	t.Parallel()
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: [../base/deployment.yaml]\n"
	root := write(t, files)
	req := manifest.Request{Dir: filepath.Join(root, "app"), Root: root}
	_, err := load(t, req)
	require.ErrorContains(t, err, "security; file 'base/deployment.yaml' is not in or below 'app'")
	req.KustomizeOptions = map[string]string{"load-restrictor": "LoadRestrictionsNone"}
	_, err = load(t, req)
	require.NoError(t, err)
}

func TestKustomizeFetchesNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"resources:\n- https://charts.example/a.yaml\n": "kustomization.yaml:2: " +
			"resources: https://charts.example/a.yaml is on another machine, and nothing is fetched from there: " +
			"copy it into the repository",
		"resources:\n- github.com/org/repo//base?ref=v1\n": "is on another machine",
		"bases: ['git@github.com:org/repo']\n":             "is on another machine",
		"components: ['ssh://host/repo']\n":                "is on another machine",
		"resources: [../base]\npatches:\n- path: https://charts.example/p.yaml\n": "kustomization.yaml:3: " +
			"https://charts.example/p.yaml is on another machine",
		"configMapGenerator: [{name: a, files: ['k=http://charts.example/x']}]\n": "http://charts.example/x is on " +
			"another machine",
		"resources: [../base]\ntransformers: [t.yaml]\n": "t.yaml:4: " +
			"https://charts.example/p.yaml is on another machine",
		"resources: [../base]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n" +
			"  metadata: {name: p}\n  path: https://a.example/b\n": "https://a.example/b is on another machine",
		"resources: [../base]\ntransformers: [deep]\n": "t.yaml:4: " +
			"https://charts.example/p.yaml is on another machine",
		"resources: [../base]\npatches: [{path: 'HTTPS://charts.example/p.yaml'}]\n": "is on " +
			"another machine",
		"Resources: [https://charts.example/a.yaml]\n": "is on " +
			"another machine",
		"resources: [../base]\nRESOURCES: [https://charts.example/a.yaml]\n": "is on " +
			"another machine",
		"<<: {resources: [https://charts.example/a.yaml]}\n": "kustomization.yaml:1: <<: " +
			"a kustomization cannot be merged",
		"resources: [../base]\npatches: [{Path: https://charts.example/p.yaml}]\n": "is on " +
			"another machine",
		"resources: [../base]\ncommonAnnotations: &a {path: https://a.example/b}\npatches: [*a]\n": "is on " +
			"another machine",
		"resources: [../base]\ntransformers: [\"{apiVersion: v1, kind: List, items: [{apiVersion: builtin, kind: " +
			"PatchTransformer, metadata: {name: p},\\n path: https://a.example/b}]}\"]\n": "is on another machine",
		"resources: [../../elsewhere]\n": "kustomization.yaml:1: resources: " +
			"../../elsewhere leads outside of the repository",
		"resources: [/etc/hostname]\n": "/etc/hostname is not relative to the " +
			"kustomization",
		"resources: [../base]\npatches: [{path: ../../../etc/hostname}]\n": "outside of the repository",
		"resources: [../base]\nopenapi: {path: 'https://a.example/b'}\n":   "is on another machine",
		"a: b\nc: [\n":                          "kustomization.yaml:2: not valid YAML",
		"resources: [broken.yaml]\n":            "broken.yaml:4: not valid YAML",
		"resources: [../base]\nunknown: true\n": "kustomization.yaml: kustomize:",
		"helmCharts: [{name: web}]\n": "kustomization.yaml:1: helmCharts are rendered with " +
			"input.kustomizeOptions",
		"helmChartInflationGenerator: [{chartName: web}]\n": "kustomization.yaml:1: helmChartInflationGenerator " +
			"is gone",
	} {
		files := kustomizeFiles()
		files["app/kustomization.yaml"] = text
		files["app/t.yaml"] = "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\n" +
			"path: https://charts.example/p.yaml\n"
		files["app/deep/kustomization.yaml"] = "resources: [t.yaml]\n"
		files["app/deep/t.yaml"] = files["app/t.yaml"]
		files["app/broken.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: [\n\n"
		root := write(t, files)
		_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), root)
		var remote *manifest.RemoteError
		require.Equal(t, strings.Contains(want, "another machine"), errors.As(err, &remote), text)
	}
}

func TestAFolderThatIsNamedAsAnAddressIsNotFetchedEither(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"github.com/org/repo", "GitHub.com/org/repo", "me@host/org/repo"} {
		files := kustomizeFiles()
		files["app/kustomization.yaml"] = "resources: ['" + name + "']\n"
		files["app/"+name+"/kustomization.yaml"] = "resources: []\n"
		root := write(t, files)
		_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
		require.ErrorContains(t, err, name+" is on another machine")
	}
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: ['web@v1.yaml']\n"
	files["app/web@v1.yaml"] = configMap("web")
	root := write(t, files)
	_, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.NoError(t, err)
}

func TestURLsThatAreDataOfAUserAreLeftAlone(t *testing.T) {
	t.Parallel()
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: [../base]\ncommonAnnotations: {path: " +
		"https://a.example}\ntransformers: [t.yaml]\n" +
		"configMapGenerator: [{name: gen, literals: ['url=https://a.example']}]\n"
	files["app/t.yaml"] = "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: t}\n" +
		"annotations: {files: https://a.example}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n"
	root := write(t, files)
	manifests, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"path": "https://a.example", "files": "https://a.example"},
		manifests[0].GetAnnotations())
}

func TestOriginsThatAUserWantsStay(t *testing.T) {
	t.Parallel()
	files := kustomizeFiles()
	files["app/kustomization.yaml"] = "resources: [../base]\nbuildMetadata: [originAnnotations]\n"
	root := write(t, files)
	manifests, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.NoError(t, err)
	require.Equal(t, "path: ../base/deployment.yaml\n", manifests[0].GetAnnotations()["config.kubernetes.io/origin"])
	require.Equal(t, "../base/deployment.yaml:1", manifests[0].Origin.String())
}

func TestFieldsAreFoundInTheFileThatAKustomizationNames(t *testing.T) {
	t.Parallel()
	root := write(t, map[string]string{
		"app/kustomization.yaml": "namePrefix: a-\nresources: [all.yaml]\n",
		"app/all.yaml": configMap("web") +
			"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-2\n  annotations:\n" +
			"    pipecd.dev/order: soon\n",
	})
	manifests, err := load(t, manifest.Request{Dir: filepath.Join(root, "app"), Root: root})
	require.NoError(t, err)
	require.Equal(t, "all.yaml:10", manifests[1].Origin.At("metadata.annotations.pipecd.dev/order"))
}

func TestChartsOfAKustomizationAreRendered(t *testing.T) {
	t.Parallel()
	root := write(t, map[string]string{
		"app/kustomization.yaml": `namePrefix: my-
namespace: prod
helmGlobals: {chartHome: vendored}
helmCharts:
- name: web
  releaseName: shop
  includeCRDs: true
  valuesFile: values.yaml
  valuesInline: {replicas: 3}
`,
		"app/values.yaml":             "replicas: 2\nname: x\n",
		"app/vendored/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.0.0}",
		"app/vendored/web/crds/c.yaml": "apiVersion: apiextensions.k8s.io/v1\n" +
			"kind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n",
		"app/vendored/web/templates/deployment.yml": "\n\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n" +
			"  name: {{ .Release.Name }}-{{ .Values.name }}\nspec: {replicas: {{ .Values.replicas }}}\n",
		"app/vendored/web/templates/test.yml": "apiVersion: v1\nkind: Pod\n" +
			"metadata: {name: t, annotations: {helm.sh/hook: test}}\n",
	})
	var notes []string
	req := manifest.Request{Dir: filepath.Join(root, "app"), Root: root,
		KustomizeOptions: map[string]string{"enable-helm": ""}, Note: func(s string) { notes = append(notes, s) }}
	manifests, err := load(t, req)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"CustomResourceDefinition//widgets.example.com", "Deployment/prod/my-shop-x",
		"Pod/prod/my-t"}, names(manifests))
	for _, m := range manifests {
		if m.GetKind() == "Deployment" {
			require.EqualValues(t, 3, m.Object["spec"].(map[string]any)["replicas"])
			require.Equal(t, "vendored/web/templates/deployment.yml (rendered):3", m.Origin.String())
		}
	}
	require.Equal(t, []string{"Chart web 1.0.0 is rendered as release shop"}, notes)
}
