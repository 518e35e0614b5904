// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// checkPlugins refuses plugins and deploy targets that the environment has itself, and leaves the plugins out of the
// spec: Plugins merges them with those of the environment.
func (c *Config) checkPlugins(around Surroundings) {
	delete(c.spec, "plugins")
	for i, p := range c.Piped.Plugins {
		at := fmt.Sprintf("spec.plugins[%d]", i)
		given, bundled := slices.Contains(around.Given, p.Name), slices.Contains(around.Bundled, p.Name)
		switch {
		case given && p.URL != "":
			c.report.Warn(at+".url", "not taken over: --plugin "+p.Name+" is used")
		case bundled && !given && p.URL != "":
			c.report.Add(at+".url", fmt.Sprintf("the plugin %s comes with pipedeck: remove the url to configure that "+
				"one, or give the program to use with --plugin %s=URL", p.Name, p.Name))
		}
		if given || bundled {
			c.leaveOutTrust(at, &c.Piped.Plugins[i])
		}
		if p.Port != 0 {
			c.report.Warn(at+".port", "not taken over: the environment chooses free ports")
		}
		if slices.Contains(around.OnClusters, p.Name) {
			c.checkTargets(at, p, around.Clusters)
		}
	}
}

// leaveOutTrust leaves out what the program at the url of the file must be, of which another one takes the place.
func (c *Config) leaveOutTrust(at string, p *config.Plugin) {
	if p.SHA256 != "" {
		c.report.Warn(at+".sha256", "not taken over: it is that of the url")
	}
	if p.Signature != nil {
		c.report.Warn(at+".signature", "not taken over: it is that of the url")
	}
	p.SHA256, p.Signature = "", nil
}

// checkTargets checks the deploy targets of a plugin that deploys to the clusters of the environment.
func (c *Config) checkTargets(at string, p config.Plugin, clusters []string) {
	if len(clusters) == 0 && len(p.DeployTargets) == 0 {
		c.report.Warn(at, "not taken over: the environment has no cluster, and the plugin no deploy target")
		c.skipped[p.Name] = true
	}
	for j, target := range p.DeployTargets {
		field := fmt.Sprintf("%s.deployTargets[%d].name", at, j)
		if slices.Contains(clusters, target.Name) {
			c.report.Add(field, fmt.Sprintf("%q is the cluster of the environment: choose another name", target.Name))
			continue
		}
		c.report.Warn(field, fmt.Sprintf("applications may deploy to %q, which is outside of the environment",
			target.Name))
	}
}

// Plugins merges the plugins of the file into those of an environment. program returns the one of a bundled plugin that
// the environment would not start by itself. The plugins in configured have a configuration of --plugin-config, which
// counts alone.
func (c *Config) Plugins(plugins []workspace.Plugin, program func(name string) (workspace.Plugin, bool),
	configured []string) ([]workspace.Plugin, error) {
	for _, own := range c.Piped.Plugins {
		if c.skipped[own.Name] {
			continue
		}
		i := slices.IndexFunc(plugins, func(p workspace.Plugin) bool { return p.Name == own.Name })
		if i < 0 {
			plugin, bundled := program(own.Name)
			if !bundled {
				plugin = workspace.Plugin{Name: own.Name, URL: own.URL}
			}
			i, plugins = len(plugins), append(plugins, plugin)
		}
		if !slices.Contains(configured, own.Name) {
			if err := configure(&plugins[i], own); err != nil {
				return nil, err
			}
		}
	}
	return plugins, nil
}

func configure(plugin *workspace.Plugin, own config.Plugin) error {
	if len(own.Config) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(own.Config))
		decoder.UseNumber()
		// Keys of the environment that the file does not name stay.
		if plugin.Config == nil {
			plugin.Config = map[string]any{}
		}
		if err := decoder.Decode(&plugin.Config); err != nil {
			return fmt.Errorf("configuration of plugin %s: %w", own.Name, err)
		}
	}
	plugin.DeployTargets, plugin.Stages = own.DeployTargets, own.Stages
	plugin.SHA256, plugin.Signature = own.SHA256, own.Signature
	if own.Limits != (config.PluginLimits{}) {
		plugin.Limits = &own.Limits
	}
	return nil
}
