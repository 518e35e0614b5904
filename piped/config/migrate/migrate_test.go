// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// sources are the files in testdata/v0.
func sources(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/v0/*")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	files := map[string][]byte{}
	for _, name := range names {
		files[filepath.Base(name)], err = os.ReadFile(name)
		require.NoError(t, err)
	}
	return files
}

func notes(r *Result) string {
	var b strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%d: %s: %s\n", n.Line, n.Field, n.Message)
	}
	return b.String()
}

func TestFilesOfV0BecomeV1WithTheirCommentsAndOrder(t *testing.T) {
	t.Parallel()
	for name, source := range sources(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := File(source, name, Options{})
			require.NoError(t, err)
			require.True(t, result.Changed)
			golden(t, "v1/"+name, string(result.Content))
			golden(t, "notes/"+strings.TrimSuffix(name, filepath.Ext(name))+".txt", notes(result))

			report := config.Check(result.Content, name)
			require.Empty(t, report.Errors)
			require.Empty(t, report.Warnings)
			again, err := File(result.Content, name, Options{})
			require.NoError(t, err)
			require.False(t, again.Changed, "what is v1 stays as it is")
			require.Equal(t, result.Content, again.Content)
		})
	}
}

func TestLineEndingsAndTheLackOfALastOneStay(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"kubernetes-canary.yaml", "piped-json.json"} {
		source := sources(t)[file]
		plain, err := File(source, file, Options{})
		require.NoError(t, err)
		for name, change := range map[string]func(string) string{
			"carriage returns":   func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
			"no newline at last": func(s string) string { return strings.TrimSuffix(s, "\n") },
		} {
			t.Run(file+" with "+name, func(t *testing.T) {
				t.Parallel()
				result, err := File([]byte(change(string(source))), file, Options{})
				require.NoError(t, err)
				require.Equal(t, change(string(plain.Content)), string(result.Content))
			})
		}
	}
}

func TestKnownPluginsGetTheirURL(t *testing.T) {
	t.Parallel()
	urls := map[string]string{}
	for _, name := range []string{"kubernetes", "cloudrun", "wait", "waitapproval", "scriptrun"} {
		urls[name] = "https://example.com/" + name + "?v=1 "
	}
	result, err := File(sources(t)["piped-cloud-providers.yaml"], "piped.yaml", Options{PluginURLs: urls})
	require.NoError(t, err)
	piped, err := config.ParsePiped(result.Content, "piped.yaml")
	require.NoError(t, err)
	require.Equal(t, urls["kubernetes"], piped.Plugins[0].URL)
	require.NotContains(t, notes(result), "fill in the url")
}

const webApplication = "apiVersion: pipecd.dev/v1beta1\nkind: %s\nspec:\n  name: web\n"

func TestAFileOfV1HasNothingToDo(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"a quick sync": "  plugins: {kubernetes: {input: {manifests: [a.yaml]}}}\n",
		"a pipeline":   "  pipeline: {stages: [{name: WAIT, timeout: 1m, with: {duration: 1s}}]}\n",
		"a list of stages": "  pipeline:\n    stages:\n    - name: WAIT_APPROVAL\n      timeout: 1m\n" +
			"      with: {approvers: [ann]}\n",
	} {
		source := fmt.Sprintf(webApplication, "Application") + rest
		result, err := File([]byte(source), "app.pipecd.yaml", Options{})
		require.NoError(t, err, name)
		require.False(t, result.Changed, name)
		require.Equal(t, source, string(result.Content), name)
		require.Empty(t, result.Notes, name)
	}
}

func TestAChainThatSelectsByAKindOfV0HasANote(t *testing.T) {
	t.Parallel()
	result, err := File([]byte(fmt.Sprintf(webApplication, "KubernetesApp")+`  postSync:
    chain:
      applications:
        - name: one
          kind: LAMBDA
        - {name: two, kind: KUBERNETES}
        - {kind: CLOUDRUN, labels: {team: core}}
        - name: three
`), "app.pipecd.yaml", Options{})
	require.NoError(t, err)
	const kept = "is kept, but an application that is migrated has the kind KUBERNETES for a chain: the chain does " +
		"not deploy it any more; remove the key, and select by name or labels\n"
	require.Equal(t, "9: spec.postSync.chain.applications[0].kind: "+kept+
		"11: spec.postSync.chain.applications[2].kind: "+kept, notes(result))
}

func TestWhatIsThereInBothFormsKeepsTheFormOfV1(t *testing.T) {
	t.Parallel()
	result, err := File([]byte(fmt.Sprintf(webApplication, "KubernetesApp")+`  planner: {autoRollback: false}
  input:
    autoRollback: true
    namespace: old
  plugins:
    kubernetes:
      input: {namespace: new}
  pipeline:
    stages:
      - name: WAIT_APPROVAL
        timeout: 1h
        with:
          timeout: 2h
          approvers: [ann]
`), "app.pipecd.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(webApplication, "Application")+`  planner: {autoRollback: false}
  plugins:
    kubernetes:
      input: {namespace: new}
  pipeline:
    stages:
      - name: WAIT_APPROVAL
        timeout: 1h
        with:
          approvers: [ann]
`, string(result.Content))
	require.Equal(t, `6: spec.input: is left out: plugins.kubernetes.input is there already and wins
7: spec.input.autoRollback: is left out: planner.autoRollback is there already and wins
17: spec.pipeline.stages[0].with.timeout: is left out: timeout next to the stage's name is there already and wins
`, notes(result))
}

func TestAnApplicationOfSeveralClustersGetsNoSecondPlugin(t *testing.T) {
	t.Parallel()
	const plugins = "  plugins:\n    kubernetes_multicluster:\n      input:\n        multiTargets:\n" +
		"          - target: {name: a}\n"
	result, err := File([]byte(fmt.Sprintf(webApplication, "KubernetesApp")+plugins), "app.pipecd.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(webApplication, "Application")+plugins, string(result.Content))
	require.Empty(t, result.Notes)

	result, err = File([]byte(fmt.Sprintf(webApplication,
		"KubernetesApp")+"  quickSync: {prune: true}\n  pipeline:\n    stages:\n      - name: ROLLBACK\n"+plugins),
		"app.pipecd.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(webApplication, "Application")+"  pipeline:\n    stages:\n"+
		"      - name: K8S_MULTI_ROLLBACK\n"+plugins+"      quickSync: {prune: true}\n", string(result.Content))

	// A plugin that only has stages does not deploy.
	result, err = File([]byte(fmt.Sprintf(webApplication, "KubernetesApp")+"  plugins:\n    analysis: {}\n"),
		"app.pipecd.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf(webApplication, "Application")+"  plugins:\n    kubernetes: {}\n    analysis: {}\n",
		string(result.Content))
}

func TestASpecWithoutKeysIsMigrated(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"spec:", "spec: {}", "spec: # nothing yet", "spec: null", "spec: ~"} {
		source := "# the smallest one\napiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\n" + spec + "\n"
		result, err := File([]byte(source), "app.pipecd.yaml", Options{})
		require.NoError(t, err, spec)
		comment := ""
		if strings.Contains(spec, "#") {
			comment = " # nothing yet"
		}
		require.Equal(t,
			"# the smallest one\napiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:"+comment+
				"\n  plugins:\n    kubernetes: {}\n", string(result.Content))

		source = strings.Replace(source, "KubernetesApp", "Application", 1)
		result, err = File([]byte(source), "app.pipecd.yaml", Options{})
		require.NoError(t, err, spec)
		require.False(t, result.Changed, spec)
	}
}

func TestAFileWithoutASpecIsMigrated(t *testing.T) {
	t.Parallel()
	result, err := File([]byte("# the smallest one\napiVersion: pipecd.dev/v1beta1\nkind: TerraformApp\n"),
		"app.pipecd.yaml", Options{})
	require.NoError(t, err)
	require.Equal(t, "# the smallest one\napiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  plugins:\n"+
		"    terraform: {}\n", string(result.Content))
	for _, kind := range []string{"Application", "Piped", "EventWatcher"} {
		for _, spec := range []string{"", "spec:\n", "spec: {}\n"} {
			result, err = File([]byte("apiVersion: pipecd.dev/v1beta1\nkind: "+kind+"\n"+spec), "app.pipecd.yaml",
				Options{})
			require.NoError(t, err)
			require.False(t, result.Changed)
		}
	}
}

func TestPlaceholdersStayAndAreNotes(t *testing.T) {
	t.Parallel()
	source := strings.Replace(string(sources(t)["piped-cloud-providers.yaml"]), "pipedKeyFile:",
		"pipedKeyData: {BASE64_KEY} # yours, not", 1)
	require.Contains(t, source, "{BASE64_KEY}")
	for _, placeholder := range []string{"{BASE64_KEY}", "<BASE64_KEY>", "YOUR KEY"} {
		result, err := File([]byte(strings.Replace(source, "{BASE64_KEY}", placeholder, 1)), "piped.yaml", Options{})
		require.NoError(t, err)
		require.True(t, result.Changed)
		require.Contains(t, string(result.Content), "pipedKeyData: "+placeholder+" # yours, not")
		require.Contains(t, string(result.Content), "deployTargets:")
		require.Contains(t, notes(result), "spec.pipedKeyData: stays as it is, which is a mistake: ")
		again, err := File(result.Content, "piped.yaml", Options{})
		require.NoError(t, err)
		require.False(t, again.Changed)
	}
}

func TestWhatCannotBeRewrittenIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"a kind that is none": {"apiVersion: pipecd.dev/v1beta1\nkind: Kubernetes\nspec: {}\n",
			`app.pipecd.yaml:2:7: kind: "Kubernetes" is not allowed here`},
		"text that is no YAML": {"spec: [", "app.pipecd.yaml:1:"},
		"braces with an alias": {
			`{apiVersion: pipecd.dev/v1beta1, kind: KubernetesApp, spec: {name: &n web, description: *n}}`,
			"app.pipecd.yaml:1:1: is written in braces and holds anchors",
		},
		"an explicit key": {
			fmt.Sprintf(webApplication, "KubernetesApp") + "  ? input\n  : {namespace: x}\n",
			"app.pipecd.yaml:5:",
		},
		"other line breaks": {
			fmt.Sprintf(webApplication, "KubernetesApp") + "  description: a\r  # b\n",
			"app.pipecd.yaml:1:1: holds line breaks other than line feeds",
		},
		"settings without a kind of v0": {
			fmt.Sprintf(webApplication, "Application") + "  input: {namespace: x}\n",
			"app.pipecd.yaml:5:1: spec.input: is a key of PipeCD v0, but the kind does not say which plugin it is for",
		},
		"an option that comes from an alias": {
			fmt.Sprintf(webApplication, "KubernetesApp") +
				"  pipeline:\n    stages:\n      - name: WAIT_APPROVAL\n        with: &a\n          timeout: 1h\n" +
				"          approvers: [x]\n      - name: WAIT_APPROVAL\n        with: *a\n",
			"app.pipecd.yaml:12:1: spec.pipeline.stages[1].with: is written in a form that is not rewritten",
		},
		"an alias that would come before its anchor": {
			fmt.Sprintf(webApplication, "KubernetesApp") + "  plugins: {wait: *a}\n  input: &a {namespace: x}\n",
			"app.pipecd.yaml:5:",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := File([]byte(c.source), "app.pipecd.yaml", Options{})
			var list config.Errors
			require.ErrorAs(t, err, &list)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// FuzzFile looks for files that are changed into something else than they say: File itself compares
// the values and checks the result, so no error may be left in what it returns.
func FuzzFile(f *testing.F) {
	for _, source := range sources(f) {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		result, err := File(source, "f", Options{})
		if err != nil {
			return
		}
		before := config.Check(source, "f").Errors
		for _, e := range config.Check(result.Content, "f").Errors {
			if !slices.ContainsFunc(before, func(old *config.Error) bool {
				return old.Field == e.Field &&
					old.Message == e.Message
			}) {
				t.Fatalf("the result is wrong: %v\n%s", e, result.Content)
			}
		}
		again, err := File(result.Content, "f", Options{})
		if err != nil || again.Changed {
			t.Fatalf("once more: %v\n%s", err, result.Content)
		}
	})
}

func TestAFileOfSeveralDocumentsIsRefusedWithTheNextStep(t *testing.T) {
	t.Parallel()
	const old = "kind: KubernetesApp\napiVersion: pipecd.dev/v1beta1\nspec:\n  name: a\n"
	for name, c := range map[string]struct {
		text string
		line int
	}{
		"two applications":       {old + "---\n" + old, 5},
		"a mark at both places":  {"# Ours\n---\n" + old + "--- # the second\n" + old, 7},
		"an empty second one":    {old + "---\n", 5},
		"line ends of Windows":   {strings.ReplaceAll(old+"---\n"+old, "\n", "\r\n"), 5},
		"a third with a mistake": {old + "---\n" + old + "---\n{", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := File([]byte(c.text), "app.pipecd.yaml", Options{})
			require.ErrorContains(t, err, fmt.Sprintf("app.pipecd.yaml:%d:1: begins a second YAML document", c.line))
			require.ErrorContains(t, err, "write each document to a separate file, then migrate those files")
		})
	}
	for name, text := range map[string]string{
		"a mark before the only one": "# Ours\n\n---\n" + old,
		"a mark with its content":    "--- # ours\n" + old,
		"a mark in a text":           old + "  description: |\n    a\n    ---\n    b\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := File([]byte(text), "app.pipecd.yaml", Options{}); err != nil {
				require.NotContains(t, err.Error(), "second YAML document")
			}
		})
	}
}
