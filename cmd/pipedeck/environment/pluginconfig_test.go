// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

func TestPluginsGetTheirConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "greeter")
	require.NoError(t, os.Mkdir(source, 0o700))
	write := func(path, text string) string {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write(filepath.Join(source, pluginflag.ConfigName),
		"config: {greeting: Adjacent}\ndeployTargets:\n"+
			"  - {name: east, labels: {env: dev}, config: {address: a}}\nlimits: {memory: 1Gi}\n")
	given := write(filepath.Join(dir, "given.yaml"), "config: {greeting: Given}\n")
	find := func(f *Flags, name string) workspace.Plugin {
		t.Helper()
		plugins, err := f.pluginList("/bin")
		require.NoError(t, err)
		for _, p := range plugins {
			if p.Name == name {
				return p
			}
		}
		require.Fail(t, "there is no "+name)
		return workspace.Plugin{}
	}

	adjacent := find(&Flags{plugins: []string{"greeter=" + source}}, "greeter")
	require.Equal(t, map[string]any{"greeting": "Adjacent"}, adjacent.Config)
	require.Equal(t, []config.DeployTarget{{Name: "east", Labels: map[string]string{"env": "dev"},
		Config: []byte(`{"address":"a"}`)}}, adjacent.DeployTargets)
	require.Equal(t, "1Gi", adjacent.Limits.Memory)

	explicit := &Flags{plugins: []string{"greeter=" + source},
		pluginConfigs: []string{"greeter=" + given, "wait=" + given}}
	require.Equal(t, map[string]any{"greeting": "Given"}, find(explicit, "greeter").Config)
	require.Empty(t, find(explicit, "greeter").DeployTargets, "the files are not mixed")
	require.Equal(t, map[string]any{"greeting": "Given"}, find(explicit, "wait").Config)
	require.Contains(t, explicit.arguments(), "--plugin-config=wait="+given)

	w, err := workspace.At(dir, "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.WritePipedConfig(workspace.PipedConfig{
		Address: "localhost:1", Repository: &workspace.Repository{Root: dir,
			Branch: "main"}, Plugins: []workspace.Plugin{{
			Name: "greeter", URL: "file:///greeter", Config: adjacent.Config, DeployTargets: adjacent.DeployTargets,
			Limits: adjacent.Limits,
		}},
	}))
	require.NoError(t, w.Keys().EnsureKeyPair())
	written, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(written), "greeting: Adjacent")
	require.Contains(t, string(written), "address: a")

	for flag, says := range map[string]string{
		"greeter":               "is not NAME=FILE",
		"absent=" + given:       `no plugin is named "absent"`,
		"greeter=/no/such/file": "read the configuration of a plugin",
		"greeter=" + write(filepath.Join(dir, "bad.yaml"), "limits: {memory: much}"): "limits.memory",
	} {
		_, err := (&Flags{plugins: []string{"greeter=" + source},
			pluginConfigs: []string{flag}}).pluginList("/bin")
		require.ErrorContains(t, err, says)
	}
}

func TestBundledPluginsHaveAMemoryLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	more := filepath.Join(dir, "more.yaml")
	require.NoError(t, os.WriteFile(more, []byte("limits: {memory: 2Gi, pids: 500}"), 0o600))
	pids := filepath.Join(dir, "pids.yaml")
	require.NoError(t, os.WriteFile(pids, []byte("limits: {pids: 500}"), 0o600))
	w, err := workspace.At(dir, "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.Keys().EnsureKeyPair())
	limits := func(ports []int, f Flags) map[string]config.PluginLimits {
		plugins, err := f.pluginList("/bin")
		require.NoError(t, err)
		require.NoError(t, w.WritePipedConfig(workspace.PipedConfig{
			Address: "localhost:1", Repository: &workspace.Repository{Root: dir, Branch: "main"}, Plugins: plugins,
			Ports: ports,
		}))
		data, err := os.ReadFile(w.PipedConfig())
		require.NoError(t, err)
		var written struct {
			Spec struct {
				Plugins []struct {
					Name   string              `json:"name"`
					Limits config.PluginLimits `json:"limits"`
				} `json:"plugins"`
			} `json:"spec"`
		}
		text, err := config.JSON(data, w.PipedConfig())
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &written))
		all := map[string]config.PluginLimits{}
		for _, p := range written.Spec.Plugins {
			all[p.Name] = p.Limits
		}
		return all
	}

	usual := limits(nil, Flags{})
	require.Equal(t, "1Gi", usual["kubernetes"].Memory)
	require.Equal(t, "256Mi", usual["wait"].Memory)
	require.Equal(t, "256Mi", usual["waitapproval"].Memory)
	require.Empty(t, usual["scriptrun"].Memory, "the scripts of users would count")
	given := limits(nil, Flags{plugins: []string{"wait=/own/wait"},
		pluginConfigs: []string{"kubernetes=" + more, "waitapproval=" + pids}})
	require.Equal(t, config.PluginLimits{Memory: "2Gi", Pids: 500}, given["kubernetes"])
	require.Equal(t, config.PluginLimits{Memory: "256Mi", Pids: 500}, given["waitapproval"])
	require.Empty(t, given["wait"].Memory, "a program of the user is not bundled")
	require.Empty(t, limits([]int{1, 2, 3, 4, 5, 6}, Flags{})["kubernetes"].Memory,
		"PipeCD's piped does not know limits")
}
