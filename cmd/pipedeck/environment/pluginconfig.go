// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// configure reads the configurations of these plugins: the given ones, else those next to the sources.
func (f *Flags) configure(plugins []workspace.Plugin) error {
	files := map[string]string{}
	for i := range plugins {
		if plugins[i].Source == "" {
			continue
		}
		adjacent := filepath.Join(plugins[i].Source, pluginflag.ConfigName)
		switch there, err := pluginflag.IsFile(adjacent); {
		case err != nil:
			return exit.Usage(err, "make the file readable")
		case there:
			files[plugins[i].Name] = adjacent
		}
	}
	for _, given := range f.pluginConfigs {
		name, file, ok := strings.Cut(given, "=")
		if !ok || name == "" || file == "" {
			return exit.Usage(fmt.Errorf("--plugin-config %q is not NAME=FILE", given),
				"give NAME=FILE, for example --plugin-config greeter=greeter.yaml")
		}
		if !slices.ContainsFunc(plugins, func(p workspace.Plugin) bool { return p.Name == name }) {
			return exit.Usage(fmt.Errorf("--plugin-config %s: no plugin is named %q", given, name),
				"give the plugin, too: --plugin "+name+"=PATH")
		}
		files[name] = file
	}
	for i := range plugins {
		file, ok := files[plugins[i].Name]
		if !ok {
			continue
		}
		c, err := pluginflag.ReadConfig(file)
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

// ConfigureAdjacent has a plugin that is recorded get the configuration that stands next to its sources.
func (f *Flags) ConfigureAdjacent(plugin workspace.Plugin) error {
	given := slices.ContainsFunc(f.pluginConfigs, func(c string) bool { return strings.HasPrefix(c, plugin.Name+"=") })
	adjacent := filepath.Join(plugin.Source, pluginflag.ConfigName)
	there, err := pluginflag.IsFile(adjacent)
	if err != nil {
		return exit.Usage(err, "make the file readable")
	}
	if there && !given {
		f.pluginConfigs = append(f.pluginConfigs, plugin.Name+"="+adjacent)
	}
	return nil
}
