// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const templates = `apiVersion: pipecd.dev/v1beta1
kind: AnalysisTemplate
spec:
  metrics:
    rate: {provider: prom, query: "rate", interval: 5m, timeout: 7s, expected: {min: 1, max: 2}, canaryArgs: {a: x}}
    empty: {provider: prom}
  https:
    ready: {url: "http://a", interval: 1m, headers: [{key: A, value: b}], timeout: 9s}
`

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func decoded(t *testing.T, with string) Options {
	t.Helper()
	var options Options
	require.NoError(t, json.Unmarshal([]byte(with), &options))
	return options
}

func TestKeysOfTheStageWinOverThoseOfItsTemplate(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"a.yaml": "kind: EventWatcher\n", "b.txt": "kind: AnalysisTemplate\n", "broken.yaml": "{",
		"c.yaml": templates, "d.yaml": "kind: AnalysisTemplate\nspec: {metrics: {rate: {query: later}}}\n",
	})
	options := decoded(t, `{"duration":"1h","metrics":[
		{"template":{"name":"rate","appArgs":{"b":"y"}},"interval":"2m","expected":{"max":3},"failureLimit":2},
		{"template":{"name":"rate"}}],
		"https":[{"template":{"name":"ready"},"expectedCode":204}]}`)
	require.NoError(t, options.Validate())
	require.NoError(t, options.Resolve(dir))
	first := options.Metrics[0]
	require.Equal(t, "rate", first.Query, "of the template")
	require.Equal(t, 2*time.Minute, first.Interval.Std(), "of the stage")
	require.InDelta(t, 1, *first.Expected.Min, 0)
	require.InDelta(t, 3, *first.Expected.Max, 0)
	require.Equal(t, 7*time.Second, first.Timeout.Std(), "the timeout of the template")
	require.Equal(t, 2, first.FailureLimit)
	require.InDelta(t, 2, *options.Metrics[1].Expected.Max, 0, "another stage entry does not change the template")
	require.Equal(t, 204, options.HTTPS[0].ExpectedCode)
	require.Equal(t, []Header{{"A", "b"}}, options.HTTPS[0].Headers)
	require.Equal(t, 9*time.Second, options.HTTPS[0].Timeout.Std())
}

func TestTemplatesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for with, want := range map[string]string{
		`{"duration":"1h","metrics":[{"template":{"name":"rat"}}]}`: `metrics[0]: the template "rat" is not among ` +
			`spec.metrics of the file of the kind AnalysisTemplate in the folder .pipe, which has: empty, rate`,
		`{"duration":"1h","metrics":[{"template":{"name":"empty"}}]}`: "metrics[0]: query is required",
		`{"duration":"4m","metrics":[{"template":{"name":"rate"}}]}`:  "metrics[0]: interval 5m0s has to be shorter",
		`{"duration":"1h","logs":[{"template":{"name":"rate"}}]}`:     "which has: none",
	} {
		options := decoded(t, with)
		require.NoError(t, options.Validate(), "nothing is known of the template yet")
		require.ErrorContains(t, options.Resolve(folder(t, map[string]string{"t.yaml": templates})), want)
	}
	whole := decoded(t, `{"duration":"5m","metrics":[{"template":{"name":"rate"}}]}`)
	require.NoError(t, whole.Resolve(folder(t, map[string]string{"t.yaml": templates})), "it is evaluated at both ends")

	options := decoded(t, `{"duration":"1h","metrics":[{"template":{"name":"rate"}}]}`)
	require.ErrorContains(t, options.Resolve(filepath.Join(t.TempDir(), "absent")), "which has: none")
	large := folder(t, map[string]string{"t.yaml": strings.Repeat("#", maxFile+1)})
	require.ErrorContains(t, options.Resolve(large), "has more than")
}

func TestVariables(t *testing.T) {
	t.Parallel()
	v := ForApplication("shop", map[string]string{"a": "1", "b": "1", "k8sNamespace": "ns"},
		map[string]string{"X_URL": "http://x"}).With(&TemplateRef{AppArgs: map[string]string{"b": "2"}})
	for query, want := range map[string]string{
		"plain": "plain", "{{ .App.Name }}": "shop", "{{ .AppCustomArgs.a }}{{ .AppCustomArgs.b }}": "12",
		"{{ .AppArgs.b }}": "2", "{{ .Services.X_URL }}": "http://x", "{{ .K8s.Namespace }}": "ns",
		"{{ .Variant.Name }}-{{ .VariantCustomArgs.job }}-{{ .VariantArgs.job }}": "canary-j-j",
	} {
		filled, err := v.Of("canary", map[string]string{"job": "j"}).Fill(query)
		require.NoError(t, err)
		require.Equal(t, want, filled)
	}
	for _, query := range []string{"{{ .AppCustomArgs.absent }}", "{{ .Nothing }}", "{{ .App.Name"} {
		_, err := v.Fill(query)
		require.ErrorContains(t, err, "its variables cannot be filled in: ")
	}
}

func TestCustomArgsOfAnApplication(t *testing.T) {
	t.Parallel()
	args, err := CustomArgs([]byte("spec: {plugins: {analysis: {appCustomArgs: {a: b}}, other: 1}}\n"), "analysis")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "b"}, args)
	args, err = CustomArgs([]byte("spec: {}\n"), "analysis")
	require.NoError(t, err)
	require.Empty(t, args)
	_, err = CustomArgs([]byte("spec: {plugins: {analysis: {appCustomArgs: 1}}}\n"), "analysis")
	require.ErrorContains(t, err, "spec.plugins.analysis of the application configuration")
}

func TestControlCharactersOfYAMLAreRead(t *testing.T) {
	t.Parallel()
	custom, err := CustomArgs(
		[]byte(`spec: {description: "\a\e\x1b", plugins: {analysis: {appCustomArgs: {a: "b\e"}}}}`), "analysis")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "b\x1b"}, custom)
	templates, is, err := parseTemplates([]byte(`{kind: AnalysisTemplate, spec: {metrics: {a: {query: "\e"}}}}`))
	require.NoError(t, err)
	require.True(t, is)
	require.JSONEq(t, `{"query":"\u001b"}`, string(templates.Metrics["a"]))
}

func TestNumbersWithAnExponentInTemplates(t *testing.T) {
	t.Parallel()
	templates, is, err := parseTemplates([]byte("kind: AnalysisTemplate\nspec:\n  metrics:\n    a: &a\n" +
		"      expected: {max: 1e-3, min: -1.5E-3}\n      query: \"1e3\"\n      steps: [1e2]\n    b: *a\n" +
		"    c: {<<: *a, step: 1e400}\n" +
		"---\nkind: Other\n"))
	require.NoError(t, err)
	require.True(t, is)
	want := `"expected":{"max":0.001,"min":-0.0015},"query":"1e3","steps":[100]`
	require.JSONEq(t, "{"+want+"}", string(templates.Metrics["a"]))
	require.JSONEq(t, "{"+want+"}", string(templates.Metrics["b"]))
	require.JSONEq(t, "{"+want+`,"step":"1e400"}`, string(templates.Metrics["c"]))
}
