// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// analysed is a repository with an application and a template whose names refer to nothing.
func analysed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n",
		".pipe/templates.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: AnalysisTemplate\nspec:\n  metrics:\n" +
			"    errors: {provider: pram, query: \"{{ .App.Nmae }}\", interval: 1m, expected: {max: 1}}\n",
		"app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: shop\n" +
			"  pipeline:\n    stages:\n      - name: ANALYSIS\n        with:\n          duration: 10m\n" +
			"          metrics:\n" +
			"            - {provider: prim, query: \"{{ .AppArgs.team }}\", interval: 1m, expected: {max: 1}}\n" +
			"            - template: {name: eros}\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	}
	return dir
}

func TestNamesInAnAnalysisThatReferToNothingAreMistakes(t *testing.T) {
	t.Parallel()
	dir := analysed(t)
	piped := filepath.Join(t.TempDir(), "piped.yaml")
	require.NoError(t, os.WriteFile(piped, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  plugins:\n"+
		"    - name: analysis\n      config:\n        analysisProviders:\n"+
		"          - {name: prom, type: PROMETHEUS, config: {address: \"http://127.0.0.1:9090\"}}\n"), 0o600))
	app, templates := filepath.Join(dir, "app.pipecd.yaml"), filepath.Join(dir, ".pipe", "templates.yaml")

	code, stdout, _ := command(t.Context(), dir, "validate", dir, "--piped-config", piped)
	require.Equal(t, exit.WrongUsage, code)
	const provider = `" is not among the analysisProviders of the piped configuration: prom`
	const stage = "spec.pipeline.stages[0].with.metrics"
	require.Contains(t, stdout, app+":11:26: error: "+stage+"[0].provider: \"prim"+provider+"\n")
	require.Contains(t, stdout,
		app+":11:39: error: "+stage+"[0].query: the variable {{ .AppArgs.team }} has no value\n")
	require.Contains(t, stdout, app+":12:32: error: "+stage+"[1].template.name: \"eros\" is not among spec.metrics of "+
		"the file of the kind AnalysisTemplate in the folder .pipe, which has: errors\n")
	require.Contains(t, stdout, templates+":5:24: error: spec.metrics.errors.provider: \"pram"+provider+"\n")
	require.Contains(t, stdout, "spec.metrics.errors.query: the variable {{ .App.Nmae }} has no value\n")

	_, stdout, _ = command(t.Context(), dir, "validate", dir)
	require.NotContains(t, stdout, "analysisProviders", "no piped configuration is known")
	require.Contains(t, stdout, "3 errors")
}

func TestAnIntervalBelowASecondIsRefusedAtItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(stagesOf+"name: ANALYSIS\n        with:\n          duration: 1m\n"+
		"          https:\n            - {url: \"http://a/\", interval: 1ns}\n"), 0o600))
	code, stdout, _ := command(t.Context(), dir, "validate", file)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, file+":11:44: error: spec.pipeline.stages[0].with.https[0].interval: ")
	require.Contains(t, stdout, "is too short: want 1s or more\n")
}

func TestLogsOfAProviderWithoutLogsAndWhatCanNeverFailAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, piped := filepath.Join(dir, "app.pipecd.yaml"), filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.WriteFile(file, []byte(stagesOf+"name: ANALYSIS\n        with:\n          duration: 1m\n"+
		"          metrics:\n"+
		"            - {provider: prom, query: up, interval: 20s, failureLimit: 4, expected: {max: 1}}\n"+
		"            - {provider: prom, query: up, interval: 20s, strategy: CANARY_PRIMARY, expected: {max: 1}}\n"+
		"          logs:\n            - {provider: prom, query: q, interval: 20s, failureLimit: 3}\n"), 0o600))
	require.NoError(t, os.WriteFile(piped, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n  plugins:\n"+
		"    - name: analysis\n      config:\n        analysisProviders:\n"+
		"          - {name: prom, type: PROMETHEUS, config: {address: \"http://127.0.0.1:9090\"}}\n"), 0o600))
	code, stdout, _ := command(t.Context(), dir, "validate", file, "--piped-config", piped)
	require.Equal(t, exit.WrongUsage, code)
	const stage = "spec.pipeline.stages[0].with."
	require.Contains(t, stdout, file+":14:26: error: "+stage+"logs[0].provider: \"prom\" has no logs: want a provider "+
		"of the type STACKDRIVER\n")
	require.Contains(t, stdout, file+":11:72: warning: "+stage+"metrics[0].failureLimit: 4 allows each of "+
		"the 4 evaluations to fail, so the entry can never fail the stage: want 3 at most\n")
	require.Contains(t, stdout, file+":12:39: warning: "+stage+"metrics[1].query: is the same for both ")
	require.Contains(t, stdout, file+":12:94: warning: "+stage+"metrics[1].expected: is not used: strategy "+
		"CANARY_PRIMARY compares samples with each other")
	require.Contains(t, stdout, "1 error, 3 warnings")
}
