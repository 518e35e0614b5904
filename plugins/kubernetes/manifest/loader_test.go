// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/system/filetest"
)

// write makes a folder with the files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	return filetest.Write(t, t.TempDir(), files)
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func load(t *testing.T, req manifest.Request) ([]manifest.Manifest, error) {
	t.Helper()
	req.ConfigFile = "app.pipecd.yaml"
	return manifest.NewLoader().Load(t.Context(), req)
}

func names(manifests []manifest.Manifest) []string {
	var all []string
	for _, m := range manifests {
		all = append(all, m.GetKind()+"/"+m.GetNamespace()+"/"+m.GetName())
	}
	return all
}

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

func TestEveryManifestDirectlyInTheFolderIsLoaded(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"app.pipecd.yaml":   "apiVersion: pipecd.dev/v1beta1\nkind: Application\n",
		"other.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\n",
		"a.yaml":            configMap("a1") + "---\n# nothing\n---\n" + configMap("a2"),
		"b.yml":             configMap("b"),
		"c.json": "{\n\t\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": " +
			"\"c\"}\n}\n",
		"list.yaml": "apiVersion: v1\nkind: List\nitems:\n" +
			"- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n" +
			"- {apiVersion: v1, kind: ConfigMap, metadata: {name: l2}}\n",
		"notes.txt":          "no manifest",
		"deeper/hidden.yaml": configMap("hidden"),
	})
	manifests, err := load(t, manifest.Request{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, []string{"ConfigMap//a1", "ConfigMap//a2", "ConfigMap//b", "ConfigMap//c", "ConfigMap//l1",
		"ConfigMap//l2"}, names(manifests))
	require.Equal(t, "a.yaml:7", manifests[1].Origin.String())
	require.Equal(t, "list.yaml:5", manifests[5].Origin.String())
}

func TestFilesAndFoldersMayBeNamed(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": configMap("a"), "deeper/b.yaml": configMap("b"),
		"c.yaml": configMap("c")})
	manifests, err := load(t, manifest.Request{Dir: dir, Files: []string{"deeper", "a.yaml"}})
	require.NoError(t, err)
	require.Equal(t, []string{"ConfigMap//b", "ConfigMap//a"}, names(manifests))
}

func TestTheNamespaceOfTheInputReplacesThatOfEveryNamespacedManifest(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"a.yaml": strings.Replace(configMap("a"), "name: a", "name: a, namespace: x", 1) +
		"---\napiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n"})
	manifests, err := load(t, manifest.Request{Dir: dir, Namespace: "prod"})
	require.NoError(t, err)
	require.Equal(t, []string{"ConfigMap/prod/a", "Namespace//n"}, names(manifests))
}

func TestAHookThatLeavesItsNameToTheAPIGetsOneThatStays(t *testing.T) {
	t.Parallel()
	text := "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: migrate-\n"
	hook := text + "  annotations: {argocd.argoproj.io/hook: PreSync}\n"
	manifests, err := load(t, manifest.Request{Dir: write(t, map[string]string{"1.yaml": hook})})
	require.NoError(t, err)
	require.Equal(t, []string{"Job//migrate"}, names(manifests))
	require.Empty(t, manifests[0].GetGenerateName())
	_, err = load(t, manifest.Request{Dir: write(t, map[string]string{"1.yaml": text})})
	require.ErrorContains(t, err, "1.yaml:3: Job without a name")
}

func TestKeysAndValuesStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	text := `apiVersion: v1
kind: ConfigMap
metadata: &meta
  name: c
  labels: {on: "1", y: "2"}
data:
  n: y
  y: "n"
  no: 'yes'
  octal: "010"
  multi: |
    a: b
spec:
  truth: [true, yes, Off, ON]
  numbers: [1, 0x10, 1.5, 1e3, -7, 9223372036854775807]
  nothing: [~, null]
  stamp: 2026-01-02
  base: &base {a: 1, b: 2}
  merged: {<<: *base, b: 3}
`
	manifests, err := manifest.Parse([]byte(text), "c.yaml")
	require.NoError(t, err)
	require.Len(t, manifests, 1)
	object := manifests[0].Object
	require.Equal(t, map[string]any{"n": "y", "y": "n", "no": "yes", "octal": "010", "multi": "a: b\n"}, object["data"])
	require.Equal(t, map[string]string{"on": "1", "y": "2"}, manifests[0].GetLabels())
	spec := object["spec"].(map[string]any)
	require.Equal(t, []any{true, true, false, true}, spec["truth"])
	require.Equal(t, []any{int64(1), int64(16), 1.5, 1000.0, int64(-7), int64(9223372036854775807)}, spec["numbers"])
	require.Equal(t, []any{nil, nil}, spec["nothing"])
	require.Equal(t, "2026-01-02", spec["stamp"])
	require.Equal(t, map[string]any{"a": int64(1), "b": int64(3)}, spec["merged"])
}

func TestMistakesAreNamedWithFileAndLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ file, text, want string }{
		"broken YAML":   {"a.yaml", "apiVersion: v1\nkind: [", "a.yaml:"},
		"broken JSON":   {"a.json", "{\n\"apiVersion\": }", "a.json:2: not valid JSON"},
		"not an object": {"a.yaml", "- 1\n", "a.yaml:1: not a Kubernetes object"},
		"no kind": {"a.yaml", "\napiVersion: v1\nmetadata: {name: a}\n",
			"a.yaml:2: not a Kubernetes object: apiVersion and kind must both be given"},
		"no name": {"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels: {a: b}\n",
			"a.yaml:3: ConfigMap without a name"},
		"no metadata": {"a.yaml", "apiVersion: v1\nkind: ConfigMap\n",
			"a.yaml:2: ConfigMap without metadata"},
		"a label that is no text": {"a.yaml",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    version: 1\n",
			`a.yaml:6: metadata.labels: the value of "version" is 1, which is not text`},
		"a key twice": {"a.yaml",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: b\n  a: c\n",
			`a.yaml:6: the key "a" is given twice`},
		"a number that is too large": {"a.yaml", configMap("a") + "---\napiVersion: apps/v1\nkind: Deployment\n" +
			"metadata: {name: web}\nspec:\n  replicas: 99999999999999\n",
			"a.yaml:9: spec.replicas of Deployment web is 99999999999999, which is too large: at most 2147483647"},
		"a number that is far too large": {"a.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n" +
			"spec:\n  parallelism: 99999999999999999999999\n",
			"a.yaml:5: spec.parallelism of Job a is 99999999999999991611392"},
		"a resource twice": {"a.yaml", configMap("a") + "---\n" + configMap("a"),
			"a.yaml:5: ConfigMap a is already defined at a.yaml:1"},
		"an alias of itself": {"a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: &m\n  name: a\n  x: *m\n",
			"a.yaml:"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := write(t, map[string]string{tt.file: tt.text})
			_, err := load(t, manifest.Request{Dir: dir})
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestABombOfAliasesIsRefused(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nl0: &l0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		prev := string(rune('0' + i - 1))
		b.WriteString("l" + string(rune('0'+i)) + ": &l" + string(rune('0'+i)) + " [" +
			strings.TrimSuffix(strings.Repeat("*l"+prev+", ", 10), ", ") + "]\n")
	}
	_, err := manifest.Parse([]byte(b.String()), "a.yaml")
	require.ErrorContains(t, err, "too large")
}

func TestNothingOutsideOfTheApplicationIsRead(t *testing.T) {
	t.Parallel()
	outside := write(t, map[string]string{"secret.yaml": configMap("secret")})
	dir := write(t, map[string]string{"a.yaml": configMap("a")})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.yaml"), filepath.Join(dir, "link.yaml")))
	for _, file := range []string{"../x.yaml", filepath.Join(outside, "secret.yaml"), "link.yaml"} {
		_, err := load(t, manifest.Request{Dir: dir, Files: []string{file}})
		require.Error(t, err, file)
		require.Regexp(t, "leads outside of the repository|is not relative to the application's directory", err.Error(),
			file)
	}
	_, err := load(t, manifest.Request{Dir: dir})
	require.ErrorContains(t, err, "link.yaml leads outside")
}

func TestAnEmptyFolderIsAnError(t *testing.T) {
	t.Parallel()
	_, err := load(t, manifest.Request{Dir: t.TempDir()})
	require.ErrorContains(t, err, "no manifests found")
	_, err = load(t, manifest.Request{Dir: t.TempDir(), Files: []string{"gone.yaml"}})
	require.ErrorContains(t, err, "gone.yaml does not exist")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("<<: {a: b}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.yaml", "a.json"} {
			manifests, err := manifest.Parse(data, name)
			for _, m := range manifests {
				require.NoError(t, err)
				_ = m.DeepCopy() // panics on types that do not belong
			}
		}
	})
}
