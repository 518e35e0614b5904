// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// application is a checkout with the chart web in charts/ and an application in app/.
func application(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "charts", "web"), os.DirFS(filepath.Join("testdata", "web"))))
	filetest.Write(t, root, map[string]string{"app/app.pipecd.yaml": ""})
	return root
}

// request renders charts/web for the application.
func request(t testing.TB, root string) helm.Request {
	t.Helper()
	tree, err := checkout.Open(root)
	require.NoError(t, err)
	return helm.Request{Tree: tree, Dir: filepath.Join(root, "app"), Path: "../charts/web", ReleaseName: "shop",
		Namespace: "prod"}
}

func charts(t *testing.T, sources helm.Sources) *helm.Charts {
	t.Helper()
	if sources.CacheDir == "" {
		sources.CacheDir = filepath.Join(t.TempDir(), "charts")
	}
	if sources.AllowedAddresses == nil {
		sources.AllowedAddresses = []string{"127.0.0.1"} // where the servers of tests are
	}
	if sources.Children == nil {
		sources.Children = children(t, helm.Limits{})
	}
	return helm.New(sources)
}

func render(t *testing.T, req helm.Request) (*helm.Rendered, error) {
	t.Helper()
	return charts(t, helm.Sources{}).Render(t.Context(), req)
}

// file returns the text of a rendered file.
func file(t *testing.T, rendered *helm.Rendered, source string) string {
	t.Helper()
	for _, f := range rendered.Files {
		if f.Source == source {
			return string(f.Data)
		}
	}
	require.Fail(t, "no file "+source)
	return ""
}

func TestAChartOfTheRepositoryIsRendered(t *testing.T) {
	t.Parallel()
	rendered, err := render(t, request(t, application(t)))
	require.NoError(t, err)
	require.Equal(t, "web 1.2.3", rendered.Name+" "+rendered.Version)
	require.True(t, rendered.Fixed)
	var sources []string
	for _, f := range rendered.Files {
		sources = append(sources, f.Source)
	}
	require.Equal(t, []string{
		"../charts/web/crds/widget.yaml", "../charts/web/charts/store/templates/claim.yaml",
		"../charts/web/templates/config.yaml",
		"../charts/web/templates/deployment.yaml", "../charts/web/templates/migrate.yaml",
		"../charts/web/templates/tests/connect.yaml",
	}, sources, "custom resource definitions first, no notes, no helpers, nothing that .helmignore names")
	require.False(t, rendered.Files[0].Template)
	deployment := file(t, rendered, "../charts/web/templates/deployment.yaml")
	require.Contains(t, deployment, "name: shop-web\n  namespace: prod\n")
	require.Contains(t, deployment, `image: "registry.example/web:4.5"`)
	config := file(t, rendered, "../charts/web/templates/config.yaml")
	require.Contains(t, config, `file: "good day"`)
	require.Contains(t, config, "kube: "+helm.KubeVersion)
	require.NotContains(t, config, "monitored")
}

func TestTheVersionOfKubernetesIsThatOfTheClientLibraries(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "go.mod"))
	require.NoError(t, err)
	minor := regexp.MustCompile(`k8s\.io/client-go v0\.(\d+)\.`).FindStringSubmatch(string(data))
	require.Equal(t, "v1."+minor[1]+".0", helm.KubeVersion)
}

func TestOptionsReachTheChart(t *testing.T) {
	t.Parallel()
	root := application(t)
	filetest.Write(t, root, map[string]string{
		"app/values.yaml": "replicas: 2\nmotd: from a file\n", "common/values.yaml": "replicas: 3\nimage: {tag: v1}\n",
		"app/motd.txt": "line, with = signs",
	})
	req := request(t, root)
	req.Options = helm.Options{
		ValueFiles: []string{"values.yaml", "../common/values.yaml"},
		SetValues:  map[string]string{"store.size": "5Gi", "replicas": "4"},
		SetFiles:   map[string]string{"motd": "motd.txt"}, APIVersions: []string{"monitoring.example/v1"},
		KubeVersion: "1.33.1",
	}
	rendered, err := render(t, req)
	require.NoError(t, err)
	deployment := file(t, rendered, "../charts/web/templates/deployment.yaml")
	require.Contains(t, deployment, "replicas: 4\n", "single values win over files")
	require.Contains(t, deployment, `web:v1"`)
	config := file(t, rendered, "../charts/web/templates/config.yaml")
	require.Contains(t, config, `motd: "line, with = signs"`)
	require.Contains(t, config, `monitored: "yes"`)
	require.Contains(t, config, "kube: v1.33.1")
	require.Contains(t, file(t, rendered, "../charts/web/charts/store/templates/claim.yaml"), "storage: 5Gi")

	req.Options = helm.Options{SetValues: map[string]string{"store.enabled": "false"}}
	rendered, err = render(t, req)
	require.NoError(t, err)
	for _, f := range rendered.Files {
		require.NotContains(t, f.Source, "store")
	}
}

func TestMistakesOfChartsAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		edit  func(*helm.Request)
		want  string
	}{
		"a template that does not parse": {
			files: map[string]string{"charts/web/templates/config.yaml": "a: b\nc: {{ if }}\n"},
			want:  "chart web 1.2.3: ../charts/web/templates/config.yaml:2: missing value for if"},
		"a template that cannot be executed": {
			files: map[string]string{"charts/web/templates/config.yaml": "a: b\n\nc: {{ .Values.a.b.c }}\n"},
			want: `chart web 1.2.3: ../charts/web/templates/config.yaml:3:13: at <.Values.a.b.c>: ` +
				`nil pointer evaluating`},
		"a template that says fail": {
			files: map[string]string{"charts/web/templates/config.yaml": "{{ fail \"give a name\" }}"},
			want:  "chart web 1.2.3: ../charts/web/templates/config.yaml:1:3: give a name"},
		"a value that is required": {
			edit: func(r *helm.Request) { r.Options.SetValues = map[string]string{"store.size": ""} },
			want: "chart web 1.2.3: ../charts/web/charts/store/templates/claim.yaml:4:"},
		"values that are not YAML": {files: map[string]string{"app/v.yaml": "a: b\nc: [\n"},
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"v.yaml"} },
			want: "v.yaml:2: not valid YAML"},
		"values that are no map": {files: map[string]string{"app/v.yaml": "- a\n"},
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"v.yaml"} },
			want: "v.yaml: not a map of values"},
		"values that are not there": {edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"v.yaml"} },
			want: "input.helmOptions.valueFiles: app/v.yaml: no such file or directory"},
		"values elsewhere": {edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"/etc/hostname"} },
			want: "/etc/hostname is not relative to the application's directory"},
		"values above the repository": {
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"../../../etc/hostname"} },
			want: "is outside of the repository"},
		"values by another scheme": {
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"file:///etc/hostname"} },
			want: "only https:// is read"},
		"a file above the repository": {
			edit: func(r *helm.Request) { r.Options.SetFiles = map[string]string{"motd": "../../../etc/hostname"} },
			want: "input.helmOptions.setFiles: motd: "},
		"a single value that cannot be read": {
			edit: func(r *helm.Request) { r.Options.SetValues = map[string]string{"a[x]": "1"} },
			want: "input.helmOptions.setValues: a[x]: "},
		"a chart above the repository": {edit: func(r *helm.Request) { r.Path = "../../elsewhere" },
			want: "is outside of the repository"},
		"no chart": {edit: func(r *helm.Request) { r.Path = "gone" },
			want: "input.helmChart.path: there is no chart at app/gone"},
		"a folder that is no chart": {edit: func(r *helm.Request) { r.Path = "." },
			want: "app: not a chart: it has no Chart.yaml"},
		"a file that is no chart": {edit: func(r *helm.Request) { r.Path = "app.pipecd.yaml" },
			want: "app/app.pipecd.yaml: not a chart that can be used"},
		"a chart that is not YAML": {files: map[string]string{"charts/web/Chart.yaml": "name: web\nversion: [\n"},
			want: "input.helmChart.path: charts/web: Chart.yaml:2: not valid YAML"},
		"values of a chart that are not YAML": {files: map[string]string{"charts/web/values.yaml": "a: b\nc: [\n"},
			want: "input.helmChart.path: charts/web: values.yaml:2: not valid YAML"},
		"another kind of chart": {files: map[string]string{"charts/web/Chart.yaml": "{apiVersion: v3, name: web, " +
			"version: 1.2.3}"},
			want: `its apiVersion is "v3", not v1 or v2`},
		"a dependency outside of the repository": {
			files: map[string]string{"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3, " +
				"dependencies: [{name: a, version: 1.x, repository: 'file://../../../a'}]}"},
			want: "its dependency a 1.x is not in charts/ (../a is outside of the repository)"},
		"no release": {edit: func(r *helm.Request) { r.ReleaseName = "My shop" },
			want: `"My shop" cannot be the name of a release`},
		"another Kubernetes": {edit: func(r *helm.Request) { r.Options.KubeVersion = "1.20.0" },
			want: "wants Kubernetes >=1.30, and is rendered for v1.20.0"},
		"no version of Kubernetes": {edit: func(r *helm.Request) { r.Options.KubeVersion = "new" },
			want: `"new" is not a version of Kubernetes`},
		"a library": {files: map[string]string{"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: " +
			"1.2.3, type: library}"},
			want: "is a library, which has nothing to deploy"},
		"values that the schema refuses": {
			files: map[string]string{"charts/web/values.schema.json": `{"properties": {"replicas": ` +
				`{"type": "string"}}}`},
			want: "replicas"},
		"a schema that reads files": {
			files: map[string]string{"charts/web/values.schema.json": `{"$ref": "file:///etc/hostname"}`},
			want:  "values.schema.json of web: it refers to a file"},
		"a schema that reads files by a relative reference": {
			files: map[string]string{"charts/web/values.schema.json": `{"properties": {"replicas": {"$ref": ` +
				`"etc/hostname"}}}`},
			want: "values.schema.json of web: it refers to a file"},
		"a schema that reads files under another spelling": {
			files: map[string]string{"charts/web/values.schema.json": `{"$ref": "\u0066ile:///etc/hostname"}`},
			want:  "values.schema.json of web: it refers to a file"},
		"a schema of a dependency that reads files": {
			files: map[string]string{"charts/web/charts/store/values.schema.json": `{"$schema": ` +
				`"file:///etc/hostname"}`},
			want: "values.schema.json of store: it refers to a file"},
		"a schema that is fetched without protection": {
			files: map[string]string{"charts/web/values.schema.json": `{"$ref": "http://schemas.example/a.json"}`},
			want:  "http:// is not protected"},
		"a value that the schema refuses is not shown": {files: map[string]string{
			"charts/web/values.schema.json": `{"properties": {"password": {"pattern": "^[a-z]+$"}}}`,
			"charts/web/values.yaml":        "password: HIDDEN-1\n"},
			want: "values.schema.json of web: ../charts/web/values.yaml:1: password: 'the value' does not match " +
				"pattern"},
		"a value of a file that the schema refuses is named with its file, line and path": {
			files: map[string]string{
				"charts/web/values.schema.json": `{"properties": {"limits": {"properties": {"cpu": ` +
					`{"type": "number"}}, "additionalProperties": false}}}`,
				"app/base.yaml": "limits:\n  cpu: HIDDEN-1\n",
				"app/prod.yaml": "replicas: 1\nlimits: {cpu: HIDDEN-2, disk: 1}\n"},
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"base.yaml", "prod.yaml"} },
			want: "values.schema.json of web: prod.yaml:2: limits.cpu: got string, want number; prod.yaml:2: " +
				"limits.disk: additional properties 'disk' not allowed"},
		"a single value that the schema refuses is named with its option": {
			files: map[string]string{"charts/web/values.schema.json": `{"properties": {"sizes": {"items": ` +
				`{"type": "number"}}}}`},
			edit: func(r *helm.Request) { r.Options.SetValues = map[string]string{"sizes[0]": "HIDDEN-1"} },
			want: "values.schema.json of web: input.helmOptions.setValues: sizes.0: got string, want number"},
		"a value that the schema of a dependency refuses": {
			files: map[string]string{
				"charts/web/charts/store/values.schema.json": `{"properties": {"size": {"type": "number"}}}`,
				"app/prod.yaml": "store:\n  enabled: true\n  size: HIDDEN-1\n"},
			edit: func(r *helm.Request) { r.Options.ValueFiles = []string{"prod.yaml"} },
			want: "values.schema.json of store: prod.yaml:3: store.size: got string, want number"},
		"a value that is missing": {
			files: map[string]string{"charts/web/values.schema.json": `{"required": ["gone"]}`},
			want:  "values.schema.json of web: gone: missing property 'gone'"},
		"a dependency that is nowhere": {
			files: map[string]string{"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3, " +
				"dependencies: [{name: queue, version: 1.x}]}"},
			want: "its dependency queue 1.x is not in charts/ (it is in no repository): run `helm dependency " +
				"update` and commit charts/"},
		"a dependency of an unknown repository": {
			files: map[string]string{"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3, " +
				"dependencies: [{name: queue, version: 1.x, repository: '@team'}]}"},
			want: `chart repository "@team" is not known`},
		"charts that depend on each other": {files: map[string]string{
			"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3, dependencies: [{name: a, " +
				"version: 1.x, repository: 'file://../a'}]}",
			"charts/a/Chart.yaml": "{apiVersion: v2, name: a, version: 1.0.0, dependencies: [{name: b, version: " +
				"1.x, repository: 'file://../b'}]}",
			"charts/b/Chart.yaml": "{apiVersion: v2, name: b, version: 1.0.0, dependencies: [{name: a, version: " +
				"1.x, repository: 'file://../a'}]}",
		}, want: "charts depend on each other more than 16 deep"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := application(t)
			filetest.Write(t, root, tt.files)
			req := request(t, root)
			if tt.edit != nil {
				tt.edit(&req)
			}
			_, err := render(t, req)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), root)
			require.NotContains(t, err.Error(), "\n\n")
			require.NotContains(t, err.Error(), "HIDDEN")
		})
	}
}

func TestADependencyThatIsSwitchedOffNeedNotBeThere(t *testing.T) {
	t.Parallel()
	root := application(t)
	filetest.Write(t, root, map[string]string{
		"charts/web/Chart.yaml": "{apiVersion: v2, name: web, version: 1.2.3, dependencies: [{name: queue, " +
			"version: 1.x, condition: queue.enabled}, {name: side, version: 1.x, repository: 'file://../side', " +
			"alias: car}]}",
		"charts/side/Chart.yaml":      "{apiVersion: v2, name: side, version: 1.0.0}",
		"charts/side/templates/a.yml": "kind: {{ .Chart.Name }}\n",
	})
	req := request(t, root)
	req.Options.SetValues = map[string]string{"queue.enabled": "false"}
	rendered, err := render(t, req)
	require.NoError(t, err)
	require.Equal(t, "kind: car\n", file(t, rendered, "../charts/web/charts/car/templates/a.yml"),
		"a folder next to the chart")
}

func TestLinksOfAChartStayInTheRepository(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	filetest.Write(t, outside, map[string]string{"secret.yaml": "kind: Secret\n"})
	root := application(t)
	link := filepath.Join(root, "charts/web/templates/link.yaml")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.yaml"), link))
	_, err := render(t, request(t, root))
	require.ErrorContains(t, err, "charts/web/templates/link.yaml is outside of the repository")

	require.NoError(t, os.Remove(link))
	filetest.Write(t, root, map[string]string{"shared/a.yaml": "kind: {{ .Release.Name }}\n"})
	require.NoError(t, os.Symlink("../../../shared/a.yaml", link))
	rendered, err := render(t, request(t, root))
	require.NoError(t, err)
	require.Equal(t, "kind: shop\n", file(t, rendered, "../charts/web/templates/link.yaml"))

	require.NoError(t, os.Symlink(".", filepath.Join(root, "charts/web/again")))
	_, err = render(t, request(t, root))
	require.ErrorContains(t, err, "does a link lead back to its own folder?")
}

func TestAFileOfAChartHasABound(t *testing.T) {
	t.Parallel()
	root := application(t)
	filetest.Write(t, root, map[string]string{"charts/web/large": strings.Repeat("x", 5<<20+1)})
	_, err := render(t, request(t, root))
	require.ErrorContains(t, err, "charts/web/large is larger than the 5 MiB that a file of a chart may have; "+
		"name it in .helmignore")
}
