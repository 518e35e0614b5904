// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestATemplateThatCannotWorkIsRefusedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	file := filepath.Join(t.TempDir(), "piped.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+
		"  notifications:\n    receivers:\n"+
		"      - {name: a, webhook: {url: \"http://127.0.0.1:1\"}, template: \"{{ .Event\"}\n"+
		"  plugins: [{name: kubernetes, config: {chartRepositorys: []}, deployTargets: [{name: a}]}]\n"), 0o600))
	dir := filepath.Join(t.TempDir(), "state")
	for _, verb := range []string{"ci", "up"} {
		args := ciArguments(t, repo, "--piped-config", file)
		args[0] = verb
		code, stdout, stderr := command(t.Context(), dir, args...)
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stderr, file+":6:67: spec.notifications.receivers[0].template: ")
		require.Contains(t, stderr, file+":7:41: spec.plugins[0].config.chartRepositorys: unknown key")
		require.Contains(t, stderr, "next step: correct the file")
		require.Empty(t, stdout)
		require.NoDirExists(t, dir)
	}
}

func TestBundledPluginsOfAnOwnConfigurationAreStartedWhereTheyDeployTo(t *testing.T) {
	t.Parallel()
	write := func(spec string) string {
		file := filepath.Join(t.TempDir(), "piped.yaml")
		require.NoError(t, os.WriteFile(file,
			[]byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+spec), 0o600))
		return file
	}
	named := func(f *Flags, name string) *workspace.Plugin {
		plugins, err := f.pluginList("/bin")
		require.NoError(t, err)
		for _, p := range plugins {
			if p.Name == name {
				return &p
			}
		}
		return nil
	}
	with := write("  plugins: [{name: kubernetes, deployTargets: [{name: far}]}]\n")
	none := &Flags{clusterFlags: clusterFlags{clusters: []string{"none"}}, pipedConfig: with}
	plugin := named(none, "kubernetes")
	require.NotNil(t, plugin)
	require.Equal(t, "file:///bin/plugins/kubernetes", plugin.URL)
	require.False(t, plugin.Kubernetes, "there is no cluster")
	require.Len(t, plugin.DeployTargets, 1)

	without := &Flags{clusterFlags: clusterFlags{clusters: []string{"none"}},
		pipedConfig: write("  plugins: [{name: kubernetes, config: {chartRepositories: []}}]\n")}
	require.Nil(t, named(without, "kubernetes"), "it would refuse to start")
	require.Contains(t, without.own.Warnings()[0], "the environment has no cluster, and the plugin no deploy target")

	both := &Flags{clusterFlags: clusterFlags{clusters: []string{"embedded"}}, pipedConfig: with}
	plugin = named(both, "kubernetes")
	require.True(t, plugin.Kubernetes)
	require.Len(t, plugin.DeployTargets, 1)
	require.Contains(t, both.arguments(), "--piped-config="+with)
}
