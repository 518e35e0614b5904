// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
)

func TestSettingsOfChartsThatCannotWorkAreReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"path": "a", "repository": "b", "name": "c"}`: "input.helmChart: give path, or repository and name, not both",
		`{"repository": "b"}`:                           "input.helmChart.name: must be given with repository",
	} {
		_, err := decode(t, `{"input": {"helmChart": `+text+`}}`)
		require.ErrorContains(t, err, want)
	}
	app, err := decode(t, `{"input": {"helmChart": {"path": "chart"}, "helmOptions": {"setValues": {"a": "1"}}}}`)
	require.NoError(t, err)
	require.Equal(t, "chart", app.Input.HelmChart.Path)
	require.Equal(t, map[string]string{"a": "1"}, app.Input.HelmOptions.SetValues)
}

func TestSettingsOfChartRepositoriesThatCannotWorkAreReported(t *testing.T) {
	t.Parallel()
	var p config.Plugin
	require.NoError(t, json.Unmarshal([]byte(`{
		"chartRepositories": [
			{"type": "GIT", "name": "g", "address": "https://a.example"}, {"address": "https://a.example"},
			{"name": "a", "address": "a.example"}, {"type": "HTTP", "name": "a", "address": "https://a.example"},
			{"name": "b", "address": "https://me:secret@a.example"}],
		"chartRegistries": [{"type": "X", "address": "a"}, {"address": "https://a.example"},
		{"address": "oci://a.example/team"}]}`), &p))
	err := p.Validate()
	for _, want := range []string{
		`chartRepositories[0].type: "GIT" is not HTTP`, "chartRepositories[1].name: must be given",
		"chartRepositories[2].address: must be a URL",
		`chartRepositories[3].name: "a" is the name of another repository`,
		"chartRepositories[4].address: put the login into username and password",
		`chartRegistries[0].type: "X" is not OCI`, "chartRegistries[1].address: must be a registry",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "chartRegistries[2]")
	require.NoError(t, (&config.Plugin{}).Validate())
}

func TestTheNameOfAnApplicationIsRead(t *testing.T) {
	t.Parallel()
	require.Equal(t, "web", config.ApplicationName([]byte("spec: {name: web}\n")))
	require.Empty(t, config.ApplicationName([]byte("spec: {}\n")))
	require.Empty(t, config.ApplicationName([]byte("spec: [\n")))
}

func TestTheLineOfAChartInAnotherGitRepositoryIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"spec:\n  plugins:\n    kubernetes:\n      input:\n        helmChart:\n          gitRemote: git@host:x\n": 6,
		"spec:\n  plugins:\n    kubernetes_multicluster: {input: {helmChart: {gitRemote: x}}}\n":                  3,
		`{"spec": {"plugins": {"kubernetes": {"input": {"helmChart": {` + "\n" + `"gitRemote": "x"}}}}}}`:         2,
		"spec: {}\n": 0,
		"spec: [\n":  0,
		"":           0,
	} {
		require.Equal(t, want, config.GitRemoteLine([]byte(text)), text)
	}
}
