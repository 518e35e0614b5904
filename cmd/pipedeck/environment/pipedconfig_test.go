// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestApplicationsOfAllRepositoriesAreAwaited(t *testing.T) {
	t.Parallel()
	application := func(path, file string) *deckv1.Application {
		return &deckv1.Application{Path: path, ConfigFilename: file}
	}
	all := awaited{
		{Head: "a", Applications: []string{"app.pipecd.yaml", "web/app.pipecd.yaml"}, Manual: []string{"by-hand"}},
		{Head: "b", Applications: []string{"web/app.pipecd.yaml"}},
	}
	require.Equal(t, []string{"a", "b"}, all.heads())
	require.Equal(t, []string{"by-hand"}, all.manual())
	registered := []*deckv1.Application{
		application("", "app.pipecd.yaml"), application("web", "app.pipecd.yaml"), application("far", "app.pipecd.yaml"),
	}
	require.False(t, all.registered(registered), "one of a repository on a server does not stand for one of here")
	require.True(t, all.registered(append(registered, application("web", "app.pipecd.yaml"))))
	require.False(t, all.registered(nil))
}

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
		args := ci(t, repo, "--piped-config", file)
		args[0] = verb
		code, stdout, stderr := command(t.Context(), dir, args...)
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stderr, file+":6:68: spec.notifications.receivers[0].template: ")
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
		require.NoError(t, os.WriteFile(file, []byte("apiVersion: pipecd.dev/v1beta1\nkind: Piped\nspec:\n"+spec), 0o600))
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
