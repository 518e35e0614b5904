// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlipsInWhatKnownPluginsReadAreWarnings(t *testing.T) {
	t.Parallel()
	app, err := ParseApplication([]byte(`apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        with: {replicas: 10 percent, sufix: x, ours: 1}
      - name: K8S_MULTI_TRAFFIC_ROUTING
        with: {all: nobody, primary: 50, canary: "50%"}
      - name: WAIT
      - name: WAIT
        with: {}
      - name: ANALYSIS
        with: {duration: 5m, metrics: [{expected: {max: 0.5, min: low}, deviation: BOTH}]}
      - name: OF_ANOTHER_PLUGIN
        with: {replicas: 10 percent, sufix: x}
  plugins:
    kubernetes: {input: {manifests: a.yaml, aNewKey: 1}}
    terraform: {input: {workspace: prod}}
    other: {input: 1}
`), "app.pipecd.yaml")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(`
app.pipecd.yaml:7:26: spec.pipeline.stages[0].with.replicas: "10 percent" is not allowed here: want a whole number or a percentage such as "50%"
app.pipecd.yaml:7:38: spec.pipeline.stages[0].with.sufix: unknown key "sufix" is not read; did you mean "suffix"?
app.pipecd.yaml:9:15: spec.pipeline.stages[1].with: the selector of a Service can send all traffic to the primary or all to the canary, and no shares; set all to primary or canary, or plugins.kubernetes_multicluster.trafficRouting.method to istio or gateway
app.pipecd.yaml:9:21: spec.pipeline.stages[1].with.all: "nobody" is not allowed here: want primary or canary or baseline
app.pipecd.yaml:10:9: spec.pipeline.stages[2].with.duration: is required and must not be empty
app.pipecd.yaml:12:15: spec.pipeline.stages[3].with.duration: is required and must not be empty
app.pipecd.yaml:14:67: spec.pipeline.stages[4].with.metrics[0].expected.min: "low" is not allowed here: want a number
app.pipecd.yaml:14:84: spec.pipeline.stages[4].with.metrics[0].deviation: "BOTH" is not allowed here: want EITHER or LOW or HIGH
app.pipecd.yaml:18:37: spec.plugins.kubernetes.input.manifests: "a.yaml" is not allowed here: want a list
app.pipecd.yaml:19:17: spec.plugins.terraform.input: is a key of PipeCD v0 and is not read: its content belongs into plugins.terraform itself; "pipedeck migrate app.pipecd.yaml" moves it there`),
		app.Warnings.Error())
}

func TestSharesThatASelectorDoesNotHaveAreWarnings(t *testing.T) {
	t.Parallel()
	for stage, warned := range map[string]bool{
		"{name: K8S_TRAFFIC_ROUTING, with: {all: canary}}":                false,
		"{name: K8S_TRAFFIC_ROUTING, with: {primary: 100}}":               false,
		"{name: K8S_TRAFFIC_ROUTING, with: {canary: '100%'}}":             false,
		"{name: K8S_TRAFFIC_ROUTING, with: {canary: 50}}":                 true,
		"{name: K8S_TRAFFIC_ROUTING, with: {primary: 90, baseline: 10%}}": true,
		"{name: K8S_TRAFFIC_ROUTING, with: {all: baseline}}":              true,
		"{name: K8S_MULTI_TRAFFIC_ROUTING, with: {canary: 50}}":           true,
		"{name: WAIT, with: {duration: 1s, canary: 50}}":                  false,
	} {
		app, err := ParseApplication(pipeline(stage), "app.pipecd.yaml")
		require.NoError(t, err)
		if !warned {
			require.Empty(t, app.Warnings, stage)
			continue
		}
		require.Len(t, app.Warnings, 1, stage)
		require.Contains(t, app.Warnings[0].Error(), "spec.pipeline.stages[0].with: the selector of a Service can send all traffic", stage)
		routed := append(pipeline(stage), "  plugins: {kubernetes: {trafficRouting: {method: istio}}, kubernetes_multicluster: {trafficRouting: {method: gateway}}}\n"...)
		app, err = ParseApplication(routed, "app.pipecd.yaml")
		require.NoError(t, err)
		require.Empty(t, app.Warnings, stage)
	}
}

func TestOptionsOfStagesWhereV0HadThemAreWarnings(t *testing.T) {
	t.Parallel()
	app, err := ParseApplication(pipeline(
		"{name: WAIT_APPROVAL, with: {approvers: [ann], timeout: 1h}}",
		"{name: SCRIPT_RUN, timeout: 1h, with: {run: a, timeout: 1h, skipOn: {paths: [a]}}}",
		"{name: MINE, with: {timeout: 1h}}",
	), "app.pipecd.yaml")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(`
app.pipecd.yaml:6:65: spec.pipeline.stages[0].with.timeout: is where PipeCD v0 had it and is not read: it belongs beside the stage's name; "pipedeck migrate app.pipecd.yaml" moves it there
app.pipecd.yaml:7:77: spec.pipeline.stages[1].with.skipOn: is where PipeCD v0 had it and is not read: it belongs beside the stage's name; "pipedeck migrate app.pipecd.yaml" moves it there`),
		app.Warnings.Error())
}

func TestDeployTargetsOfKnownPluginsAreChecked(t *testing.T) {
	t.Parallel()
	piped, err := ParsePiped([]byte(strings.Replace(goodPiped, "kubeConfigPath: /home", "kubeConfgPath: /home", 1)), "piped.yaml")
	require.NoError(t, err)
	require.Len(t, piped.Warnings, 1)
	require.Contains(t, piped.Warnings[0].Error(), `spec.plugins[0].deployTargets[0].config.kubeConfgPath: unknown key "kubeConfgPath" is not read; did you mean "kubeConfigPath"?`)
}

func TestMistakesBeyondTheBoundAreNotKept(t *testing.T) {
	t.Parallel()
	const stages = 3000
	list := make([]string, stages)
	for i := range list {
		list[i] = "{name: 1}"
	}
	report := Check(pipeline(list...), "app.pipecd.yaml")
	require.Len(t, report.Errors, maxErrors+1)
	require.Equal(t, "app.pipecd.yaml: many more mistakes are not shown", report.Errors[maxErrors].Error())
}

func TestStagesForSeveralClustersAreKnownByOneNameEach(t *testing.T) {
	t.Parallel()
	for range 20 { // The order of a map differs each time.
		stages := KnownParts().Stages
		require.Len(t, stages, 20)
		require.Contains(t, stages, "K8S_MULTI_CANARY_ROLLOUT")
	}
}

func TestFilesAreClaimedByTheirVersionAndKind(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		"apiVersion: pipecd.dev/v1beta1\nkind: Piped\n":                           true,
		"kind: Aplication # misspelt\napiVersion: 'pipecd.dev/v1beta1'\n":         true,
		"apiVersion: pipecd.dev/v1beta1\nspec: [\n":                               true,
		"{\n  \"apiVersion\": \"pipecd.dev/v1beta1\",\n  \"kind\": \"ECSApp\"\n}": true,
		"apiVersion: pipecd.dev/v1beta1\nkind: AnalysisTemplate\n":                false,
		"apiVersion: pipecd.dev/v1beta1\nkind: LambdaFunction\n":                  false,
		"apiVersion: v1\nkind: Pod\n":                                             false,
		"data:\n  piped.yaml: |\n    apiVersion: pipecd.dev/v1beta1\n":            false,
	} {
		require.Equal(t, want, Claimed([]byte(content)), content)
	}
}
