// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestApplicationConfigurationIsReadWithItsDefaults(t *testing.T) {
	t.Parallel()
	app, err := ParseApplication([]byte(`
apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  labels: {env: dev}
  pipeline:
    stages:
      - name: WAIT
        timeout: 10s
        with:
          duration: 3s
          n: yes
      - name: K8S_SYNC
        skipOn:
          paths: ["docs/**"]
  trigger:
    onCommit:
      ignores: ["**/*.md"]
    onOutOfSync:
      disabled: false
  plugins:
    kubernetes:
      input: {manifests: [a.yaml]}
    wait:
`), "app.pipecd.yaml")
	require.NoError(t, err)
	require.Empty(t, app.Warnings)
	require.Equal(t, KindApplication, app.Kind)
	require.True(t, app.Planner.AutoRollback)
	require.Equal(t, 6*time.Hour, app.Timeout.Std())
	require.Equal(t, 10*time.Second, app.Pipeline.Stages[0].Timeout.Std())
	require.Equal(t, 6*time.Hour, app.Pipeline.Stages[1].Timeout.Std())
	require.Equal(t, `{"duration":"3s","n":"yes"}`, string(app.Pipeline.Stages[0].With),
		"n and yes are text in YAML 1.2")
	require.Nil(t, app.Pipeline.Stages[1].With)
	require.False(t, app.Trigger.OnOutOfSync.Disabled)
	require.Equal(t, 5*time.Minute, app.Trigger.OnOutOfSync.MinWindow.Std())
	require.True(t, app.Trigger.OnChain.Disabled)
	require.Contains(t, app.Plugins, "wait")
	require.JSONEq(t, `{"input":{"manifests":["a.yaml"]}}`, string(app.Plugins["kubernetes"]))
}

func TestUnknownKeysAreWarningsThatNameTheNearestKey(t *testing.T) {
	t.Parallel()
	app, err := ParseApplication([]byte(`apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  nmae: web
  pipeline:
    stages:
      - name: K8S_SYNC
        timout: 10s
  input: {}
metadata: {}
`), "app.pipecd.yaml")
	require.NoError(t, err)
	require.Len(t, app.Warnings, 4)
	require.Equal(t, `app.pipecd.yaml:4:3: spec.nmae: unknown key "nmae" is not read; did you mean "name"?`,
		app.Warnings[0].Error())
	require.Equal(t,
		`app.pipecd.yaml:8:9: spec.pipeline.stages[0].timout: unknown key "timout" is not read; `+
			`did you mean "timeout"?`, app.Warnings[1].Error())
	require.Contains(t, app.Warnings[2].Error(), "app.pipecd.yaml:9:3: spec.input: is a key of PipeCD v0 and is "+
		"not read: its content belongs into plugins, below the name of the plugin; \"pipedeck migrate "+
		"app.pipecd.yaml\" moves it there")
	require.Contains(t, app.Warnings[3].Error(), "app.pipecd.yaml:10:1: metadata: unknown key")
}

func TestApplicationMistakesAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"a stage without a name": {"pipeline: {stages: [{desc: x}]}",
			"spec.pipeline.stages[0].name: is required"},
		"an empty stage": {"pipeline: {stages: [null]}",
			"spec.pipeline.stages[0]: an entry of this list is empty"},
		"options that are not a mapping": {"pipeline: {stages: [{name: A, with: [1]}]}",
			"spec.pipeline.stages[0].with: want a mapping"},
		"a negative timeout": {"timeout: -1s", "spec.timeout: \"-1s\" is not a duration"},
		"a bad regular expression": {"commitMatcher: {pipeline: '('}",
			"spec.commitMatcher.pipeline: \"(\" is not a regular expression"},
		"a bad path pattern": {"trigger: {onCommit: {paths: ['[a-']}}",
			"spec.trigger.onCommit.paths[0]: \"[a-\" is not a path pattern"},
		"encryption without targets": {"encryption: {encryptedSecrets: {a: b}}",
			"spec.encryption.decryptionTargets: is required"},
		"a target outside of the directory": {"attachment: {targets: [../../etc/passwd]}",
			"is outside of the application directory"},
		"a chain that matches nothing": {"postSync: {chain: {applications: [{}]}}",
			"needs at least one of name, kind and labels"},
		"text for a boolean": {"planner: {autoRollback: \"no\"}",
			"spec.planner.autoRollback: \"no\" is not allowed here: want true or false"},
		"a mapping for a list": {"pipeline: {stages: {name: A}}",
			"spec.pipeline.stages: a mapping is not allowed here: want a list"},
		"an unknown handler": {"eventWatcher: [{matcher: {name: a}, handler: {type: X}}]",
			"\"X\" is not allowed here: want GIT_UPDATE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseApplication(
				[]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  "+c.spec+"\n"), "app.pipecd.yaml")
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "app.pipecd.yaml:4:")
		})
	}
}

// TestAgentsReadWhatOnlyAuthorsHaveToCorrect: PipeCD deploys these.
func TestAgentsReadWhatOnlyAuthorsHaveToCorrect(t *testing.T) {
	t.Parallel()
	const replacement = "eventWatcher: [{matcher: {name: a}, handler: {config: {replacements: [{file: a, "
	for spec, says := range map[string]string{
		`name: "a\nb"`: `spec.name: "a\nb" holds a line break`,
		"{name: a, postSync: {chain: {applications: [{name: a}]}}}":              "is this application itself",
		replacement + "regex: b}]}}}]":                                           "has no group",
		replacement + "yamlField: b}]}}}]":                                       "is not the path of a field",
		replacement + "regex: (b)}], commitMessage: '{{'}}}]":                    "is not a template",
		"pipeline: {stages: [{name: A, skipOn: {commitMessagePrefixes: ['']}}]}": "every message begins with it",
	} {
		text := []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  " + spec + "\n")
		app, err := ParseApplication(text, "app.pipecd.yaml")
		require.NoError(t, err, spec)
		require.Len(t, app.Warnings, 1, spec)
		require.Contains(t, app.Warnings[0].Error(), says, spec)
		require.ErrorContains(t, Check(text, "app.pipecd.yaml").Errors, says, spec)
	}
}

func TestNamesOfEveryLanguageAreNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"web", "my shop", "店", "магазин", "خانه\u200cها",
		"👩‍🚀", "é", "é"} {
		report := Check([]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: "+name+
			"\n  plugins: {kubernetes: {}}\n"), "app.pipecd.yaml")
		require.Empty(t, report.Errors, name)
		require.Empty(t, report.Warnings, name)
	}
}

func TestMergeKeysAndAnchorsAreResolved(t *testing.T) {
	t.Parallel()
	app, err := ParseApplication([]byte(`apiVersion: pipecd.dev/v1beta1
kind: KubernetesApp
spec:
  plugins:
    base: &base {a: 1, b: 2}
    other:
      <<: *base
      b: 3
`), "app.pipecd.yaml")
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1,"b":3}`, string(app.Plugins["other"]))
}

func TestConfigurationFileNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"app.pipecd.yaml": true, "a/b/canary.pipecd.yaml": true, "a/.pipe.yaml": true,
		"app.yaml": false, "x.pipe.yaml": false, "pipecd.yaml": false, "app.pipecd.yaml.old": false,
	} {
		require.Equal(t, want, IsApplicationFilename(name), name)
	}
}
