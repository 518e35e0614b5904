// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func mistakesOf(t *testing.T, options string, known Known) (found []string) {
	t.Helper()
	var o Options
	require.NoError(t, json.Unmarshal([]byte(options), &o))
	for _, m := range o.Mistakes(known) {
		found = append(found, strings.Join(m.Path, ".")+": "+m.Message)
	}
	return found
}

func TestVariablesWithoutAValueAreFound(t *testing.T) {
	t.Parallel()
	known := Known{CustomArgs: map[string]string{"team": "blue"}}
	for query, missing := range map[string]string{
		"{{ .App.Name }} {{ .AppCustomArgs.team }} {{ .Services.DEFAULT_X_URL }}": "",
		"{{ .K8s.Namespace }}": ".K8s.Namespace", "{{ .Variant.Name }}": ".Variant.Name",
		"{{ .App.Nmae }}": ".App.Nmae", "{{ .Apps.Name }}": ".Apps.Name", "{{ .AppArgs.tem }}": ".AppArgs.tem",
		"{{ if .AppArgs.tem }}{{ .Variant.Kind }}{{ end }}":                 ".AppArgs.tem",
		"{{ if .AppArgs.team }}{{ .AppArgs.a }}{{ else }}{{ .B }}{{ end }}": "",
		"{{ if and .Variant.Name .VariantArgs.x }}{{ end }}":                ".Variant.Name",
		"{{ or .AppArgs.tem .VariantArgs.x }}":                              ".AppArgs.tem",
		"{{ .VariantArgs.x }}":                                              ".VariantArgs.x",
		"{{ .App.Name.First }}":                                             ".App.Name.First",
		"{{ printf \"%s\" .AppCustomArgs.colour }}":                         ".AppCustomArgs.colour",
		"{{ range .AppArgs }}{{ . }}{{ end }}":                              "",
	} {
		options, err := json.Marshal(map[string]any{"metrics": []any{map[string]any{"query": query}}})
		require.NoError(t, err)
		var want []string
		if missing != "" {
			want = []string{"metrics.0.query: the variable {{ " + missing + " }} has no value"}
		}
		require.Equal(t, want, mistakesOf(t, string(options), known), query)
	}
	const two = `{"metrics": [{"strategy": "CANARY_PRIMARY", "query": "{{ .VariantCustomArgs.v }}",
		"canaryArgs": {"v": "1"}}], "https": [{"url": "http://{{ .AppArgs.host }}/"}]}`
	require.Equal(t, []string{"metrics.0.query: the variable {{ .VariantCustomArgs.v }} has no value",
		"https.0.url: the variable {{ .AppArgs.host }} has no value"}, mistakesOf(t, two, known))
}

// Fill is what reads the query in a stage: validate must not refuse what it accepts.
func TestAVariableOfTheBranchOfOneVariantIsNoMistake(t *testing.T) {
	t.Parallel()
	const query = `up{{ if eq .Variant.Name "canary" }}{zone="{{ .VariantArgs.zone }}"}{{ end }}`
	zone := map[string]string{"zone": "a"}
	for variant, want := range map[string]string{"canary": `up{zone="a"}`, "primary": "up"} {
		args := map[string]map[string]string{"canary": zone}[variant]
		filled, err := ForApplication("shop", nil, nil).Of(variant, args).Fill(query)
		require.NoError(t, err)
		require.Equal(t, want, filled)
	}
	options, err := json.Marshal(map[string]any{"metrics": []any{map[string]any{
		"strategy": CanaryPrimary, "query": query, "canaryArgs": zone}}})
	require.NoError(t, err)
	require.Empty(t, mistakesOf(t, string(options), Known{}))
}

func TestProvidersAndTemplatesThatDoNotExistAreFoundWhereTheyAreKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.yaml"), []byte("apiVersion: pipecd.dev/v1beta1\n"+
		"kind: AnalysisTemplate\nspec:\n  metrics:\n    errors: {query: \"{{ .AppArgs.x }}\"}\n"), 0o600))
	folder, err := ReadFolder(dir)
	require.NoError(t, err)
	const options = `{"metrics": [{"provider": "prom", "template": {"name": "errors"}},
		{"template": {"name": "errors", "appArgs": {"x": "1"}}}, {"template": {"name": "eros"}}],
		"logs": [{"provider": "gcp", "template": {"name": "errors"}}],
		"https": [{"url": "http://a", "headersFrom": ["shop", "lost"]}]}`
	require.Empty(t, mistakesOf(t, options, Known{}), "nothing is known")
	require.Equal(t, []string{
		`metrics.0.provider: "prom" is not among the analysisProviders of the piped configuration: none`,
		`metrics.0.template.name: query of "errors": the variable {{ .AppArgs.x }} has no value`,
		`metrics.2.template.name: "eros" is not among spec.metrics of the file of the kind AnalysisTemplate in the ` +
			`folder .pipe, which has: errors`,
		`logs.0.provider: "gcp" is not among the analysisProviders of the piped configuration: none`,
		`logs.0.template.name: "errors" is not among spec.logs of the file of the kind AnalysisTemplate in the ` +
			`folder .pipe, which has: none`,
		`https.0.headersFrom.1: "lost" is not among the httpHeaders of the piped configuration: shop`,
	}, mistakesOf(t, options, Known{Providers: []string{}, Headers: []string{"shop"}, Folder: folder}))
}

func TestWhatCanNeverFailIsDoubted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "t.yaml"), []byte("apiVersion: pipecd.dev/v1beta1\n"+
		"kind: AnalysisTemplate\nspec:\n  metrics:\n    errors: {query: up, interval: 20s, failureLimit: 4}\n"+
		"  https:\n    ftp: {url: \"ftp://a\", interval: 20s}\n"), 0o600))
	folder, err := ReadFolder(dir)
	require.NoError(t, err)
	limited := func(evaluations string) string {
		return "4 allows each of the " + evaluations + " evaluations to fail, so the entry can never fail the "
	}
	const limitOf = `template.name: failureLimit of "errors": `
	const itself = "query: " + ComparesItself
	const byArgs = `"strategy": "CANARY_BASELINE", "query": "a{{ .VariantArgs.x }}", "canaryArgs": {"x": "a"}`
	for entry, want := range map[string][]string{
		`"query": "up", "interval": "15s", "failureLimit": 4`: nil,
		`"query": "up", "interval": "19s", "failureLimit": 4`: {"failureLimit: " + limited("4")},
		`"template": {"name": "errors"}`:                      {limitOf + limited("4")},
		`"template": {"name": "errors"}, "interval": "1m", "strategy": "CANARY_PRIMARY"`: {
			`template.name: query of "errors": ` + ComparesItself,
			limitOf + limited("2")},
		`"query": "up", "interval": "9s", "strategy": "CANARY_PRIMARY"`: {itself},
		`"interval": "9s", "baselineArgs": {"x": "b"}, ` + byArgs:       nil,
		`"interval": "9s", "baselineArgs": {"x": "a"}, ` + byArgs:       {itself},
		`"query": "a", "interval": "9s", "strategy": "PREVIOUS", "expected": {"max": 1}`: {
			"expected: is not used: strategy PREVIOUS "},
	} {
		var o Options
		require.NoError(t, json.Unmarshal([]byte(`{"duration": "1m", "metrics": [{`+entry+`}]}`), &o))
		found := o.Mistakes(Known{Folder: folder})
		require.Len(t, found, len(want), entry)
		for i, one := range found {
			require.True(t, one.Warning)
			require.Contains(t, strings.Join(one.Path, ".")+": "+one.Message, "metrics.0."+want[i])
		}
	}
	require.Equal(t, []string{"https.0.template.name: url of \"ftp\": is not a URL of http or https, such as " +
		"https://shop.example.com/healthz"}, mistakesOf(t, `{"https": [{"template": {"name": "ftp"}}]}`,
		Known{Folder: folder}))
	require.Equal(t, []string{": has no metrics, logs or https: there is nothing to evaluate"},
		mistakesOf(t, `{"duration": "1m"}`, Known{}))
}
