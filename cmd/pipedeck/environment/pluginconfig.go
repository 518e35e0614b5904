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
		if err := configureBy(&plugins[i], file); err != nil {
			return err
		}
	}
	return nil
}

// configureBy gives a plugin the configuration in a file.
func configureBy(plugin *workspace.Plugin, file string) error {
	c, err := pluginflag.ReadConfig(file)
	if err != nil {
		return err
	}
	if c.Config != nil {
		plugin.Config = c.Config
	}
	plugin.DeployTargets, plugin.Stages, plugin.Limits = c.DeployTargets, c.Stages, c.Limits
	return nil
}

// develop returns how a plugin of sources in a directory is run in place of former, as --plugin NAME=DIRECTORY would
// have it: with the configuration next to the sources, unless the user has given another file.
func develop(f *Flags, name, directory string, former *workspace.Plugin) (workspace.Plugin, error) {
	plugin := workspace.Plugin{Name: name}
	if former != nil {
		plugin = *former
	}
	plugin.Source, plugin.DefaultMemory, plugin.SHA256, plugin.Signature = directory, "", "", nil
	given := slices.ContainsFunc(f.pluginConfigs, func(c string) bool { return strings.HasPrefix(c, name+"=") })
	adjacent := filepath.Join(directory, pluginflag.ConfigName)
	there, err := pluginflag.IsFile(adjacent)
	if err != nil {
		return plugin, err
	}
	if there && !given {
		if err := configureBy(&plugin, adjacent); err != nil {
			return plugin, err
		}
	}
	plugin.Kubernetes = slices.Contains(kubernetesPlugins, name) && !f.none() && len(plugin.DeployTargets) == 0
	return plugin, nil
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
