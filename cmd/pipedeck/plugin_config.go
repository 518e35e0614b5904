// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// pluginConfigName is the file with the configuration of a plugin that is given as the directory of a Go package.
	pluginConfigName = "piped-plugin.yaml"
	// maxPluginConfig bounds such a file in bytes.
	maxPluginConfig = 1 << 20
)

// blankYAML matches a file without values: blank lines, comments and marks of a document.
var blankYAML = regexp.MustCompile(`^\x{feff}?(?:(?:[ \t]*(?:#.*)?|---)\r?\n)*(?:[ \t]*(?:#.*)?|---)$`)

// pluginConfig is what a user configures of a plugin, with the keys that it has in the piped configuration.
type pluginConfig struct {
	Config        map[string]any        `json:"config,omitempty"`
	DeployTargets []config.DeployTarget `json:"deployTargets,omitempty"`
	Stages        []string              `json:"stages,omitempty"`
	Limits        *config.PluginLimits  `json:"limits,omitempty"`
}

// configure reads the configurations of these plugins: the given ones, else those next to the sources.
func (f *environmentFlags) configure(plugins []workspace.Plugin) error {
	files := map[string]string{}
	for i := range plugins {
		if plugins[i].Source == "" {
			continue
		}
		beside := filepath.Join(plugins[i].Source, pluginConfigName)
		switch there, err := isFile(beside); {
		case err != nil:
			return usageError(err, "make the file readable")
		case there:
			files[plugins[i].Name] = beside
		}
	}
	for _, given := range f.pluginConfigs {
		name, file, ok := strings.Cut(given, "=")
		if !ok || name == "" || file == "" {
			return usageError(fmt.Errorf("--plugin-config %q is not NAME=FILE", given),
				"give NAME=FILE, for example --plugin-config greeter=greeter.yaml")
		}
		if !slices.ContainsFunc(plugins, func(p workspace.Plugin) bool { return p.Name == name }) {
			return usageError(fmt.Errorf("--plugin-config %s: no plugin is named %q", given, name),
				"give the plugin, too: --plugin "+name+"=PATH")
		}
		files[name] = file
	}
	for i := range plugins {
		file, ok := files[plugins[i].Name]
		if !ok {
			continue
		}
		c, err := readPluginConfig(file)
		if err != nil {
			return err
		}
		if c.Config != nil {
			plugins[i].Config = c.Config
		}
		plugins[i].DeployTargets, plugins[i].Stages, plugins[i].Limits = c.DeployTargets, c.Stages, c.Limits
	}
	return nil
}

// configureBeside has a plugin that is recorded get the configuration that stands next to its sources.
func (f *environmentFlags) configureBeside(plugin workspace.Plugin) error {
	given := slices.ContainsFunc(f.pluginConfigs, func(c string) bool { return strings.HasPrefix(c, plugin.Name+"=") })
	beside := filepath.Join(plugin.Source, pluginConfigName)
	there, err := isFile(beside)
	if err != nil {
		return usageError(err, "make the file readable")
	}
	if there && !given {
		f.pluginConfigs = append(f.pluginConfigs, plugin.Name+"="+beside)
	}
	return nil
}

// readPluginConfig decodes a file.
func readPluginConfig(path string) (pluginConfig, error) {
	var c pluginConfig
	const hint = "write the keys that the plugin has in the piped configuration: config and deployTargets, stages " +
		"and limits"
	file, err := os.Open(path)
	if err != nil {
		return c, usageError(fmt.Errorf("read the configuration of a plugin: %w", err), "give an existing file")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPluginConfig+1))
	if err != nil {
		return c, usageError(fmt.Errorf("read the configuration of a plugin: %w", err), "give a YAML file")
	}
	if len(data) > maxPluginConfig {
		return c, usageError(fmt.Errorf("%s is larger than %d bytes", path, maxPluginConfig), hint)
	}
	if blankYAML.Match(data) {
		return c, nil
	}
	text, err := config.JSON(data, path) // as piped reads it
	if err != nil {
		return c, usageError(err, hint)
	}
	if err := decodePluginConfig(text, &c); err != nil {
		return c, usageError(fmt.Errorf("%s: %w", path, err), hint)
	}
	return c, nil
}

func decodePluginConfig(text json.RawMessage, c *pluginConfig) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return err
	}
	for i, target := range c.DeployTargets {
		if target.Name == "" {
			return fmt.Errorf("deployTargets[%d] has no name", i)
		}
	}
	if c.Limits != nil {
		if _, err := c.Limits.MemoryBytes(); err != nil {
			return fmt.Errorf("limits.memory: %w", err)
		}
	}
	return nil
}

// settings is the configuration as the plugin gets it.
func (c *pluginConfig) settings(name, url string) (sdk.Settings, error) {
	settings := sdk.Settings{Name: name, URL: url}
	if c.Config != nil {
		data, err := json.Marshal(c.Config)
		if err != nil {
			return settings, err
		}
		settings.Config = data
	}
	for _, target := range c.DeployTargets {
		raw, err := json.Marshal(target.Config)
		if err != nil {
			return settings, err
		}
		settings.DeployTargets = append(settings.DeployTargets,
			sdk.DeployTargetConfig{Name: target.Name, Labels: target.Labels, Config: raw})
	}
	return settings, nil
}

// isFile is whether there is a regular file: a directory or a pipe is not read.
func isFile(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return info.Mode().IsRegular(), nil
}
