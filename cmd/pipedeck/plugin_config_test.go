// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	write(filepath.Join(source, pluginConfigName),
		"config: {greeting: Beside}\ndeployTargets:\n"+
			"  - {name: east, labels: {env: dev}, config: {address: a}}\nlimits: {memory: 1Gi}\n")
	given := write(filepath.Join(dir, "given.yaml"), "config: {greeting: Given}\n")
	find := func(f *environmentFlags, name string) workspace.Plugin {
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

	beside := find(&environmentFlags{plugins: []string{"greeter=" + source}}, "greeter")
	require.Equal(t, map[string]any{"greeting": "Beside"}, beside.Config)
	require.Equal(t, []config.DeployTarget{{Name: "east", Labels: map[string]string{"env": "dev"},
		Config: []byte(`{"address":"a"}`)}}, beside.DeployTargets)
	require.Equal(t, "1Gi", beside.Limits.Memory)

	explicit := &environmentFlags{plugins: []string{"greeter=" + source},
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
			Name: "greeter", URL: "file:///greeter", Config: beside.Config, DeployTargets: beside.DeployTargets,
			Limits: beside.Limits,
		}},
	}))
	require.NoError(t, w.Keys().EnsureKeyPair())
	written, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	require.Contains(t, string(written), "greeting: Beside")
	require.Contains(t, string(written), "address: a")

	for flag, says := range map[string]string{
		"greeter":               "is not NAME=FILE",
		"nobody=" + given:       `no plugin is named "nobody"`,
		"greeter=/no/such/file": "read the configuration of a plugin",
		"greeter=" + write(filepath.Join(dir, "bad.yaml"), "limits: {memory: much}"): "limits.memory",
	} {
		_, err := (&environmentFlags{plugins: []string{"greeter=" + source},
			pluginConfigs: []string{flag}}).pluginList("/bin")
		require.ErrorContains(t, err, says)
	}
}

// A plugin's configuration file has to mean what it would mean inside a piped configuration.
func TestAPluginConfigurationIsReadAsPipedReadsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, mistake string }{
		"an empty file":                  {text: "", want: "null"},
		"comments only":                  {text: "---\n# config:\n  # a: 1\n\n", want: "null"},
		"an empty mapping":               {text: "{}\n", want: "null"},
		"a byte order mark":              {text: "\ufeffconfig: {a: 1}\n", want: `{"a":1}`},
		"JSON":                           {text: `{"config": {"a": 1}}`, want: `{"a":1}`},
		"lines for Windows":              {text: "config:\r\n  a: 1\r\n", want: `{"a":1}`},
		"an anchor and an alias":         {text: "config: {a: &x [1], b: *x}\n", want: `{"a":[1],"b":[1]}`},
		"a merge key":                    {text: "config: {a: &x {c: 1}, b: {<<: *x}}\n", want: `{"a":{"c":1},"b":{"c":1}}`},
		"words of YAML 1.1 are text":     {text: "config: {a: yes, b: off}\n", want: `{"a":"yes","b":"off"}`},
		"words of YAML 1.2 are no text":  {text: "config: {a: true, b: null}\n", want: `{"a":true,"b":null}`},
		"octal numbers of YAML 1.1":      {text: "config: {a: 0644}\n", want: `{"a":420}`},
		"octal numbers of YAML 1.2":      {text: "config: {a: 0o644}\n", want: `{"a":420}`},
		"a key that is given twice":      {text: "config: {}\nconfig: {}\n", mistake: ":2:1: key \"config\" is given twice"},
		"a bracket that is not closed":   {text: "config: {a: 1\n", mistake: ":1:9: not valid YAML"},
		"a tab for indentation":          {text: "config:\n\ta: 1\n", mistake: ":2:1: not valid YAML"},
		"an alias without an anchor":     {text: "config: {a: *x}\n", mistake: ":1:13: alias *x has no anchor"},
		"a second document":              {text: "config: {}\n---\nconfig: {}\n", mistake: ":3:1: the file holds a second"},
		"an unknown key":                 {text: "confg: {}\n", mistake: `unknown field "confg"`},
		"a list":                         {text: "- config\n", mistake: ":1:1: the file is empty or holds no keys"},
		"text for a mapping":             {text: "config: a\n", mistake: "cannot unmarshal string"},
		"a deploy target without a name": {text: "deployTargets: [{}]\n", mistake: "deployTargets[0] has no name"},
		"more than one mebibyte of text": {text: "config: {a: " + strings.Repeat("b", 1<<20) + "}\n", mistake: "is larger than"},
		"more lines than piped would read": {text: strings.Repeat("\n", 30_000) + "config: {}\n",
			mistake: "more than 20000 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "piped-plugin.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			read, err := readPluginConfig(path)
			if c.mistake != "" {
				require.ErrorContains(t, err, c.mistake)
				require.ErrorContains(t, err, path)
				return
			}
			require.NoError(t, err)
			got, err := json.Marshal(read.Config)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
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
	limits := func(ports []int, f environmentFlags) map[string]config.PluginLimits {
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

	usual := limits(nil, environmentFlags{})
	require.Equal(t, "1Gi", usual["kubernetes"].Memory)
	require.Equal(t, "256Mi", usual["wait"].Memory)
	require.Equal(t, "256Mi", usual["waitapproval"].Memory)
	require.Empty(t, usual["scriptrun"].Memory, "the scripts of users would count")
	given := limits(nil, environmentFlags{plugins: []string{"wait=/own/wait"},
		pluginConfigs: []string{"kubernetes=" + more, "waitapproval=" + pids}})
	require.Equal(t, config.PluginLimits{Memory: "2Gi", Pids: 500}, given["kubernetes"])
	require.Equal(t, config.PluginLimits{Memory: "256Mi", Pids: 500}, given["waitapproval"])
	require.Empty(t, given["wait"].Memory, "a program of the user is not bundled")
	require.Empty(t, limits([]int{1, 2, 3, 4, 5, 6}, environmentFlags{})["kubernetes"].Memory,
		"PipeCD's piped does not know limits")
}
