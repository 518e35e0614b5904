// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/plugins/sdk/optionschema"
)

const root = "../../.."

func TestPublishedSchemasAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	files, err := generate(root)
	require.NoError(t, err)
	require.Len(t, files, 11+len(documents())+1)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s is stale: run make generate", name)
	}
}

func TestTheTablesInTheDocumentationAreThoseOfTheTypes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, keysPage))
	require.NoError(t, err)
	want, err := reference(string(text), root)
	require.NoError(t, err)
	require.True(t, want == string(text), "%s is stale: run make generate", keysPage)
	_, err = reference("no marks", root)
	require.ErrorContains(t, err, "the text has no lines")
}

// TestCommentsNameTheDefaults keeps the words on a key and what its type does together.
func TestCommentsNameTheDefaults(t *testing.T) {
	t.Parallel()
	comments, err := optionschema.ReadComments(filepath.Join(root, configSources))
	require.NoError(t, err)
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t2 reflect.Type) {
		for t2.Kind() == reflect.Pointer || t2.Kind() == reflect.Slice {
			t2 = t2.Elem()
		}
		if t2.Kind() != reflect.Struct || seen[t2] {
			return
		}
		seen[t2] = true
		defaults := config.Defaults(t2)
		for i := range t2.NumField() {
			field := t2.Field(i)
			if field.Tag.Get("json") == "-" {
				continue
			}
			if value, ok := defaultOf(defaults.Field(i)); ok {
				require.Contains(t, comments.Of(t2, field.Name), fmt.Sprintf("Default %v", value), "%s.%s", t2.Name(),
					field.Name)
			}
			walk(field.Type)
		}
	}
	walk(reflect.TypeFor[config.Piped]())
	walk(reflect.TypeFor[config.Application]())
	require.Greater(t, len(seen), 30)
}

func TestWithoutTheSourceThereIsNoSchema(t *testing.T) {
	t.Parallel()
	_, err := generate(t.TempDir())
	require.ErrorContains(t, err, "holds no Go files")
}

// compiled is a published schema.
func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, published, name))
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(name, document))
	schema, err := compiler.Compile(name)
	require.NoError(t, err)
	return schema
}

func newChecker(t *testing.T) *options.Checker {
	t.Helper()
	known, err := knownPlugins()
	require.NoError(t, err)
	return &options.Checker{Catalogue: known}
}

// check asks the schema what it says of a file.
func check(t *testing.T, schema *jsonschema.Schema, content []byte) error {
	t.Helper()
	text, err := config.JSON(content, "f")
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return schema.Validate(value)
}

func TestSchemasTakeWhatTheDecodersTake(t *testing.T) {
	t.Parallel()
	piped, application, checker := compiled(t, "piped.json"), compiled(t, "application.json"), newChecker(t)
	files, err := filepath.Glob("../../../piped/config/migrate/testdata/v1/*.yaml")
	require.NoError(t, err)
	samples, err := filepath.Glob("../../../sample-apps/*/app.pipecd.yaml")
	require.NoError(t, err)
	require.Greater(t, len(files), 5)
	require.NotEmpty(t, samples)
	for _, name := range append(append(files, samples...), "testdata/piped.yaml", "testdata/app.pipecd.yaml") {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		report := config.Check(content, name)
		checker.CheckOptions(report)
		require.Empty(t, report.Errors, name)
		for _, warning := range report.Warnings { // migrate keeps these keys, and says that nothing fetches the chart
			require.Regexp(t, `helmChart\.(gitRemote|ref)`, warning.Error())
		}
		schema := application
		if report.Kind == config.KindPiped {
			schema = piped
		}
		require.NoError(t, check(t, schema, content), name)
	}
}

func TestSchemasAcceptNullWhereTheDecodersDo(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: a
  labels: null
  trigger: null
  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, id: null, timeout: null, with: {replicas: null, suffix: null, patches: null}}
      - {name: K8S_MULTI_SYNC, with: {failurePolicy: null, multiTargets: null}}
      - {name: K8S_CANARY_CLEAN, with: null}
  plugins: {kubernetes: {input: null, service: {kind: null}, workloads: null, trafficRouting: {method: null}}}
`
	report := config.Check([]byte(text), "app.pipecd.yaml")
	newChecker(t).CheckOptions(report)
	require.Empty(t, report.Errors)
	require.NoError(t, check(t, compiled(t, "application.json"), []byte(text)))
	require.NoError(t, check(t, compiled(t, "pipecd.json"), []byte(text)))
}

// TestOneSchemaChecksEachKind is about *.pipecd.yaml and the files in .pipe.
func TestOneSchemaChecksEachKind(t *testing.T) {
	t.Parallel()
	schema := compiled(t, "pipecd.json")
	for text, right := range map[string]bool{
		"kind: EventWatcher\nspec: {events: [{name: a, replacements: [{file: a, regex: (b)}]}]}\n": true,
		"kind: EventWatcher\nspec: {events: [{nmae: a}]}\n":                                        false,
		"kind: AnalysisTemplate\nspec: {metrics: {rate: {provider: p, query: q, interval: 1m, expected: {max: " +
			"1}}}}\n": true,
		"kind: AnalysisTemplate\nspec: {metrics: {rate: {qurey: q}}}\n":   false,
		"kind: Application\nspec: {name: a, plugins: {kubernetes: {}}}\n": true,
		"kind: Application\nspec: {name: a, events: []}\n":                false,
		"kind: Nothing\nspec: {}\n":                                       false,
	} {
		err := check(t, schema, []byte("apiVersion: pipecd.dev/v1beta1\n"+text))
		require.Equal(t, right, err == nil, "%s: %v", text, err)
	}
}

func TestTheSchemasOfOtherFilesCheckThem(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0a", 32)
	for name, texts := range map[string]map[string]bool{
		"piped-plugin.json": {
			"config: {prefix: a}\nlimits: {memory: 64Mi}\nstages: [A]\ndeployTargets: [{name: a}]\n": true,
			"confg: {}\n":                false,
			"deployTargets: [{}]\n":      false,
			"limits: {memory: [64Mi]}\n": false,
		},
		"plugin-index.json": {
			"plugins: {canary: {versions: {v1.0.0: {linux/amd64: {url: a, sha256: " + digest + "}}}}}\n": true,
			"formatVersion: 1\nplugins: {}\n":    true,
			"plugins: {canary: {version: v1}}\n": false,
		},
	} {
		schema := compiled(t, name)
		for text, right := range texts {
			err := check(t, schema, []byte(text))
			require.Equal(t, right, err == nil, "%s: %s: %v", name, text, err)
		}
	}
}

// TestSchemasRefuseWhatTheDecodersReport changes one line of a file with every key at a time.
func TestSchemasRefuseWhatTheDecodersReport(t *testing.T) {
	t.Parallel()
	checker := newChecker(t)
	for _, c := range []struct{ file, line, instead string }{
		{"piped", "  projectID: dev", "  projectID: 12"},
		{"piped", "  projectID: dev", "  projectId: dev"},
		{"piped", "  pipedKeyFile: key", "  pipedKeyFile: key\n  pipedKeyData: a2V5"},
		{"piped", "  syncInterval: 1m", "  syncInterval: soon"},
		{"piped", "  syncInterval: 1m", "  syncInterval: -1m"},
		{"piped", "  syncInterval: 1m", "  platformProviders: []"},
		{"piped", "      port: 7001", "      port: any"},
		{"piped", "            kubeConfigPath: kubeconfig", "            kubeConfigPath: [kubeconfig]"},
		{"piped", "    type: KEY_PAIR", "    type: KEYPAIR"},
		{"piped", "        events: [DEPLOYMENT_FAILED]", "        events: [DEPLOYMENT_FALIED]"},
		{"piped", "        groups: [PIPED]", "        groups: [PIPEDS]"},
		{"piped", "kind: Piped", "kind: Pipe"},
		{"app", "  name: web", "  nmae: web"},
		{"app", "  timeout: 1h30m", "  timeout: 1h30"},
		{"app", "      - name: WAIT", "      - summary: WAIT"},
		{"app", "        id: wait", "        id: 1"},
		{"app", "        needs: [wait]", "        needs: wait"},
		{"app", "          duration: 10s", "          duration: ten"},
		{"app", "          replicas: 10%", "          replicas: ten"},
		{"app", "    decryptionTargets: [secret.yaml]", "    decryptionTargets: []"},
		{"app", "      - event: DEPLOYMENT_SUCCEEDED", "      - event: SUCCEEDED"},
		{"app", "      - name: after", "      - {}"},
		{"app", "            - {file: values.yaml, yamlField: $.image}", "            - {file: values.yaml}"},
		{"app", "        type: GIT_UPDATE", "        type: GIT"},
		{"app", "        method: istio", "        method: linkerd"},
		{"app", "    alwaysUsePipeline: true", "    alwaysUsePipeline: sometimes"},
	} {
		name := map[string]string{"piped": "piped.yaml", "app": "app.pipecd.yaml"}[c.file]
		content, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		require.Contains(t, string(content), c.line+"\n")
		broken := []byte(strings.Replace(string(content), c.line+"\n", c.instead+"\n", 1))
		report := config.Check(broken, name)
		checker.CheckOptions(report)
		require.NotEmpty(t, append(report.Errors, report.Warnings...), c.instead)
		schema := compiled(t, map[string]string{"piped": "piped.json", "app": "application.json"}[c.file])
		require.Error(t, check(t, schema, broken), c.instead)
	}
}
