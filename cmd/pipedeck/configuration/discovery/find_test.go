// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration/discovery"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// object is a manifest of a kind.
func object(kind, name string) string {
	version := "v1"
	if kind == "Deployment" {
		version = "apps/v1"
	}
	return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n"
}

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example}
spec: {group: shop.example, names: {kind: Widget}}
`

func find(t *testing.T, files map[string]string) *discovery.Result {
	t.Helper()
	result, err := discovery.Find(t.Context(), filetest.Write(t, t.TempDir(), files), ".", "shop")
	require.NoError(t, err)
	for _, a := range result.Applications {
		for _, pipeline := range discovery.Pipelines() {
			app, err := config.ParseApplication([]byte(a.Configuration(pipeline)), a.File())
			require.NoError(t, err, a.Configuration(pipeline))
			require.Empty(t, app.Warnings)
			require.Equal(t, a.Name, app.Name)
		}
	}
	return result
}

// names are the applications by their folders.
func names(result *discovery.Result) map[string]string {
	found := map[string]string{}
	for _, a := range result.Applications {
		found[a.Folder] = a.Name
	}
	return found
}

// skipped are the reasons by path.
func skipped(result *discovery.Result) map[string]string {
	found := map[string]string{}
	for _, s := range result.Skipped {
		found[s.Path] = s.Reason
	}
	return found
}

func application(t *testing.T, result *discovery.Result, folder string) *discovery.Application {
	t.Helper()
	for _, a := range result.Applications {
		if a.Folder == folder {
			return a
		}
	}
	require.Fail(t, "no application", "in %s: %v", folder, names(result))
	return nil
}

func TestEachFolderOfManifestsIsAnApplication(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"k8s/web.yaml":           object("Deployment", "web") + "---\n" + object("Service", "web"),
		"k8s/settings.json":      `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}`,
		"k8s/values.yaml":        "replicas: 2\n",
		"services/db/k8s/db.yml": object("Deployment", "db"),
		"docker-compose.yaml":    "services: {}\n",
		"package.json":           `{"name": "shop"}`,
	})
	require.Equal(t, map[string]string{"k8s": "shop", "services/db/k8s": "db"}, names(result))
	a := application(t, result, "k8s")
	require.Equal(t, "2 plain manifests: ConfigMap settings, Deployment web, Service web", a.Why)
	require.Contains(t, a.Configuration(discovery.Quick),
		"manifests:\n          - settings.json\n          - web.yaml\n")
	require.Empty(t, result.Skipped)
	require.Empty(t, result.Problems)
}

func TestAnOverlayIsAnApplicationAndItsBaseIsNone(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"api/base/kustomization.yaml":                "resources: [web.yaml]\n",
		"api/base/web.yaml":                          object("Deployment", "web"),
		"api/overlays/staging/kustomization.yml":     "namespace: staging\nresources: [../../base]\n",
		"api/overlays/production/Kustomization":      "resources: [../../base, ../../../common/quota.yaml]\n",
		"api/components/debug/kustomization.yaml":    "kind: Component\n",
		"common/quota.yaml":                          object("ConfigMap", "quota"),
		"api/overlays/production/unlisted/note.yaml": "a: b\n",
	})
	require.Equal(t, map[string]string{
		"api/overlays/staging": "api-staging", "api/overlays/production": "api-production",
	}, names(result))
	staging := application(t, result, "api/overlays/staging").Configuration(discovery.Quick)
	require.Contains(t, staging, "paths:\n        - api/base\n", "a change to the base deploys it")
	require.Contains(t, staging, "namespace: staging\n        autoCreateNamespace: true\n")
	production := application(t, result, "api/overlays/production").Configuration(discovery.Quick)
	require.Contains(t, production, `load-restrictor: "LoadRestrictionsNone"`, "a file is outside of its folder")
	require.Contains(t, production, "- common/quota.yaml\n")
	reasons := skipped(result)
	require.Equal(t, "api/overlays/production/Kustomization uses it", reasons["api/base"])
	require.Equal(t, "api/overlays/production/Kustomization uses its manifests", reasons["common"])
	require.Contains(t, reasons["api/components/debug"], "a component")
}

func TestAKustomizationThatCannotBeBuiltIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"far/kustomization.yaml":   "resources:\n  - https://example.com/base?ref=v1\n",
		"gone/kustomization.yaml":  "resources:\n  - web.yaml\n  - missing.yaml\n",
		"gone/web.yaml":            object("Deployment", "web"),
		"empty/kustomization.yaml": "resources: [../folder]\n",
		"folder/readme.md":         "nothing",
		"a/kustomization.yaml":     "resources: [../broken]\n",
		"b/kustomization.yaml":     "resources: [../broken]\n",
		"broken/kustomization.yml": "resources: [\n",
	})
	require.Empty(t, result.Applications)
	var found []string
	for _, p := range result.Problems {
		require.NotZero(t, p.Line, p)
		found = append(found, p.File)
	}
	require.Equal(t, []string{"broken/kustomization.yml", "empty/kustomization.yaml", "far/kustomization.yaml",
		"gone/kustomization.yaml"}, found, "each once")
	require.Contains(t, result.Problems[2].Message, "is on another machine")
	require.Equal(t, 3, result.Problems[3].Line)
}

func TestAChartIsAnApplicationAndWhatBelongsToItIsNone(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"charts/web/Chart.yaml": "name: web\ndependencies:\n- {name: lib, repository: 'file://../lib'}\n" +
			"- {name: redis, version: 1.0.0, repository: 'https://charts.example'}\n",
		"charts/web/values.yaml":            "a: b\n",
		"charts/web/values-production.yaml": "a: c\n",
		"charts/web/templates/web.yaml":     object("Deployment", "{{ .Release.Name }}"),
		"charts/web/charts/sub/Chart.yaml":  "name: sub\n",
		"charts/lib/Chart.yaml":             "name: lib\n",
		"charts/common/Chart.yaml":          "name: common\ntype: library\n",
	})
	require.Equal(t, map[string]string{"charts/web": "web"}, names(result))
	a := application(t, result, "charts/web")
	require.Contains(t, a.Why, "values-production.yaml")
	require.Contains(t, a.Configuration(discovery.Quick), "#   - values-production.yaml\n")
	require.Contains(t, a.Notes[0].Message, "needs the network: charts/ lacks redis 1.0.0")
	require.Equal(t, "charts/web/Chart.yaml uses the chart", skipped(result)["charts/lib"])
	require.Contains(t, skipped(result)["charts/common"], "a library chart")
}

func TestWhatIsNoDeploymentIsLeftOut(t *testing.T) {
	t.Parallel()
	service := object("Service", "web")
	result := find(t, map[string]string{
		".github/workflows/x.yaml": service, "node_modules/x/y.yaml": service, "vendor/x.yaml": service,
		".gitignore": "/out\n*.tmp.yaml\n", "out/x.yaml": service, "k8s/x.tmp.yaml": service,
		"tests/k8s/x.yaml": service, "crds/crd.yaml": definition,
		"infra/main.tf": "", "infra/modules/net/main.tf": "",
		"gen/x.yaml":    "# Code generated by a program. DO NOT EDIT.\n" + service,
		"argo/app.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n",
		"done/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: done\n" +
			"  plugins: {kubernetes: {input: {helmChart: {path: ../used}}}}\n",
		"done/x.yaml":            service,
		"used/Chart.yaml":        "name: used\n",
		"another/.git":           "gitdir: elsewhere\n",
		"another/k8s/x.yaml":     service,
		"kind/cluster.yaml":      "apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n",
		"tests/chart/Chart.yaml": "name: x\n",
	})
	require.Empty(t, names(result))
	require.Equal(t, []string{"done/app.pipecd.yaml"}, result.Existing)
	require.Equal(t, map[string]string{
		"another":           "it is a separate repository",
		"argo/app.yaml":     "configuration of Argo CD",
		"crds":              "only CustomResourceDefinitions (Widget), which objects elsewhere need",
		"gen/x.yaml":        "it was generated: its first lines say so",
		"infra":             "Terraform is not supported yet",
		"kind/cluster.yaml": "configuration of kind.x-k8s.io",
		"tests/chart":       "a chart for tests",
		"tests/k8s":         "manifests for tests",
		"used":              "done/app.pipecd.yaml uses the chart",
	}, skipped(result))
}

func TestAMistakeInAManifestIsNamedWithItsLineAndKeepsItsFolderOut(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"web/broken.yaml":    "apiVersion: v1\nkind: Service\nmetadata:\n  name: [\n",
		"web/right.yaml":     object("Service", "web"),
		"db/template.yaml":   "apiVersion: v1\nkind: Service\nmetadata: {{ .x }}: 1\n",
		"job/job.yaml":       "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: x-}\n",
		"twice/a.yaml":       object("Service", "web"),
		"twice/b.yaml":       object("Service", "other") + "---\n" + object("Service", "web"),
		"mixed/a.yaml":       object("Service", "web") + "---\na: b\n",
		"list/a.yaml":        "apiVersion: v1\nkind: List\nitems:\n- text\n",
		"self/Kustomization": "resources: [.]\n",
		"note/jinja.yaml":    "{% if x %}\na: [\n",
		"fine/service.yaml":  object("Service", "fine"),
	})
	require.Equal(t, map[string]string{"fine": "fine"}, names(result))
	require.Len(t, result.Problems, 7)
	for i, want := range []struct {
		file    string
		line    int
		message string
	}{
		{"db/template.yaml", 3, "it looks like a template"}, {"job/job.yaml", 1, "Job without a name"},
		{"list/a.yaml", 4, "an item of a list without"}, {"mixed/a.yaml", 6, "a document without apiVersion and kind"},
		{"self/Kustomization", 1, "uses itself"},
		{"twice/b.yaml", 6, "Service web is also in twice/a.yaml:1"}, {"web/broken.yaml", 4, ""},
	} {
		require.Equal(t, want.file, result.Problems[i].File)
		require.Equal(t, want.line, result.Problems[i].Line, result.Problems[i])
		require.Contains(t, result.Problems[i].Message, want.message)
	}
}

func TestApplicationsWithTheSameObjectsGetSeparateNamespaces(t *testing.T) {
	t.Parallel()
	role := strings.Replace(object("ClusterRole", "reader"), "v1", "rbac.authorization.k8s.io/v1", 1)
	result := find(t, map[string]string{
		"envs/dev/web.yaml":  object("Deployment", "web") + "---\n" + role,
		"envs/prod/web.yaml": object("Deployment", "web") + "---\n" + role,
		"other/other.yaml":   object("Deployment", "other"),
	})
	for _, env := range []string{"dev", "prod"} {
		require.Contains(t, application(t, result, "envs/"+env).Configuration(discovery.Quick),
			"namespace: shop-"+env+"\n        autoCreateNamespace: true\n")
	}
	require.NotContains(t, application(t, result, "other").Configuration(discovery.Quick), "namespace")
	notes := application(t, result, "envs/prod").Notes
	require.Len(t, notes, 1, "a cluster has a ClusterRole once")
	require.Contains(t, notes[0].Message, "shop-dev also deploys ClusterRole reader")
}

func TestNamesAreUniqueWhateverTheFoldersAreCalled(t *testing.T) {
	t.Parallel()
	taken := "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {name: web}\n"
	result := find(t, map[string]string{
		"a/web/k8s/x.yaml": object("ConfigMap", "a"), "b/web/k8s/x.yaml": object("ConfigMap", "b"),
		"taken/app.pipecd.yaml": taken,
		"k8s/x.yaml":            object("ConfigMap", "c"), "deploy/x.yaml": object("ConfigMap", "d"),
		"Größe & Co/x.yaml": object("ConfigMap", "e"), "%/x.yaml": object("ConfigMap", "f"),
		strings.Repeat("long/", 30) + "x.yaml": object("ConfigMap", "g"),
	})
	found := names(result)
	require.Len(t, found, 7)
	require.Equal(t, "a-web", found["a/web/k8s"])
	require.Equal(t, "b-web", found["b/web/k8s"])
	unique := map[string]bool{}
	for folder, name := range found {
		require.Regexp(t, `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`, name, folder)
		require.LessOrEqual(t, len(name), 53)
		require.False(t, unique[name], name)
		unique[name] = true
	}
}

const widget = "apiVersion: shop.example/v1\nkind: Widget\nmetadata: {name: w}\n"

func TestDefinitionsGoWithTheOneApplicationThatNeedsThem(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"crds/crd.yaml": definition, "k8s/shop/w.yaml": widget,
		"k8s/c.yaml": "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\n",
	})
	configuration := application(t, result, "k8s/shop").Configuration(discovery.Quick)
	require.Contains(t, configuration, "- w.yaml\n          - ../../crds/crd.yaml\n")
	require.Contains(t, configuration, "paths:\n        - crds/crd.yaml\n")
	require.Empty(t, application(t, result, "k8s/shop").Notes)
	require.Equal(t, "only CustomResourceDefinitions, which k8s/shop/app.pipecd.yaml deploys", skipped(result)["crds"])
	notes := application(t, result, "k8s").Notes
	require.Len(t, notes, 1)
	require.Contains(t, notes[0].Message, "Certificate (cert-manager.io) is a custom kind")
}

func TestDefinitionsThatSeveralNeedAreNamed(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"crds/crd.yaml": definition, "a/w.yaml": widget, "b/w.yaml": strings.Replace(widget, "w}", "x}", 1),
	})
	for _, folder := range []string{"a", "b"} {
		notes := application(t, result, folder).Notes
		require.Len(t, notes, 1)
		require.Contains(t, notes[0].Message, "which crds/crd.yaml defines: deploy that first")
	}
}

func TestPipelinesAreForWorkloadsAlone(t *testing.T) {
	t.Parallel()
	result := find(t, map[string]string{
		"web/web.yaml": object("Deployment", "web") + "---\n" + object("Service", "web") +
			"spec: {selector: {app: web}}\n",
		"worker/w.yaml":     object("Deployment", "worker"),
		"settings/map.yaml": object("ConfigMap", "settings"),
	})
	web, worker, settings := application(t, result, "web"), application(t, result, "worker"),
		application(t, result, "settings")
	require.Contains(t, web.Configuration(discovery.Canary), "K8S_CANARY_ROLLOUT")
	require.Contains(t, web.Configuration(discovery.BlueGreen), "K8S_TRAFFIC_ROUTING")
	require.Contains(t, web.Services(discovery.BlueGreen)[0].Message, "pipecd.dev/variant: primary")
	require.Empty(t, web.Services(discovery.Canary))
	require.Equal(t, "it has no Service", worker.Suits(discovery.BlueGreen))
	require.Equal(t, "it has no Deployment", settings.Suits(discovery.Canary))
	require.NotContains(t, settings.Configuration(discovery.Canary), "pipeline:")
}

func TestLargeFilesAndMergedKeysAreRead(t *testing.T) {
	t.Parallel()
	large := object("ConfigMap", "large") + "data:\n  a: " + strings.Repeat("x", 2<<20) + "\n"
	result := find(t, map[string]string{
		"k8s/large.yaml":   large,
		"k8s/merged.yaml":  "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  <<: {name: merged}\n",
		"k8s/empty.yaml":   "---\n---\n# nothing\n---\n" + object("ConfigMap", "late") + "---\n",
		"huge/huge.yaml":   strings.Repeat(large, 5),
		"round/a.yaml":     "apiVersion: v1\nkind: X\nmetadata: &a\n  <<: {<<: *a, name: x}\n",
		"values/some.yaml": "web:\n  apiVersion: v1\n  kind: Service\n",
	})
	require.Empty(t, result.Problems)
	require.Contains(t, application(t, result, "k8s").Why, "ConfigMap late, ConfigMap large, ConfigMap merged")
	require.Equal(t, map[string]string{"huge/huge.yaml": "it is larger than 8 MiB"}, skipped(result))
}

func TestLinksOutOfTheRepositoryAreNotFollowed(t *testing.T) {
	t.Parallel()
	outside := filetest.Write(t, t.TempDir(), map[string]string{"secret.yaml": object("Secret", "s")})
	root := filetest.Write(t, t.TempDir(), map[string]string{
		"common/web.yaml": object("Service", "web"), "k8s/a.md": "",
	})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.yaml"), filepath.Join(root, "k8s", "secret.yaml")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "elsewhere")))
	require.NoError(t, os.Symlink("../common/web.yaml", filepath.Join(root, "k8s", "web.yaml")))
	result, err := discovery.Find(t.Context(), root, "k8s", "shop")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k8s": "shop"}, names(result))
	require.Contains(t, result.Applications[0].Configuration(discovery.Quick), "manifests:\n          - web.yaml\n")
}

func TestDeepAndLargeRepositoriesHaveABound(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 501 {
		files[fmt.Sprintf("x/%d/%d/x.yaml", i%20, i)] = object("ConfigMap", "x")
	}
	_, err := discovery.Find(t.Context(), filetest.Write(t, t.TempDir(), files), ".", "shop")
	var limit *discovery.LimitError
	require.ErrorAs(t, err, &limit)
	require.ErrorContains(t, err, "more than 500 folders")
	result := find(t, map[string]string{strings.Repeat("d/", 70) + "x.yaml": object("ConfigMap", "x")})
	require.Empty(t, result.Applications)
	require.Contains(t, result.Skipped[0].Reason, "too deep")
}
