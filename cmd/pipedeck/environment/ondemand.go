// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"encoding/json"
	"slices"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

// onDemandPlugins are bundled plugins that are compiled and started only where an application uses them.
var onDemandPlugins = []string{"analysis", "terraform"}

// needed are those of these plugins that the applications use.
func needed(from *source) (plugins []string, err error) {
	for _, sample := range from.samples {
		plugins = append(plugins, sample.Plugins...)
	}
	if from.dir == "" {
		return plugins, nil
	}
	repository, err := workspace.OpenRepository(from.dir)
	if err != nil {
		return nil, err
	}
	configurations, err := repository.Configurations()
	if err != nil {
		return nil, err
	}
	known, err := pluginflag.Known()
	if err != nil {
		return nil, err
	}
	for _, name := range onDemandPlugins {
		i := slices.IndexFunc(known, func(p options.Plugin) bool { return p.Name == name })
		for _, report := range configurations {
			if i >= 0 && report.Application != nil && uses(report.Application, known[i]) {
				plugins = append(plugins, name)
				break
			}
		}
	}
	return plugins, nil
}

// demanded are those of these plugins that the environment needs: applications use them, or the user has configured
// them. A program that the user gives for one takes its place.
func demanded(f *Flags) (plugins []string) {
	own, _ := f.readOwn() // its mistakes are reported where its plugins are used
	for _, name := range onDemandPlugins {
		isIt := func(p config.Plugin) bool { return p.Name == name }
		configured := slices.Contains(names(f.pluginConfigs), name) ||
			own != nil && slices.ContainsFunc(own.Piped.Plugins, isIt)
		if slices.Contains(f.onDemand, name) || configured && !slices.Contains(names(f.plugins), name) {
			plugins = append(plugins, name)
		}
	}
	return plugins
}

// uses is whether an application names the plugin, or has one of its stages.
func uses(application *config.Application, plugin options.Plugin) bool {
	if _, named := application.Plugins[plugin.Name]; named {
		return true
	}
	return application.Pipeline != nil && slices.ContainsFunc(application.Pipeline.Stages,
		func(stage config.Stage) bool { return plugin.Has(stage.Name) })
}

// localTarget is the deploy target of a plugin that deploys from this machine.
const localTarget = "local"

// onThisMachine gives the plugin terraform a deploy target, unless the user gives others. States that applications keep
// on this machine belong to the environment: it alone knows what they are of.
func onThisMachine(plugins []workspace.Plugin, w *workspace.Workspace) error {
	i := slices.IndexFunc(plugins, func(p workspace.Plugin) bool { return p.Name == "terraform" })
	if i < 0 || len(plugins[i].DeployTargets) > 0 {
		return nil
	}
	target, err := json.Marshal(map[string]string{"localState": w.Path(workspace.TerraformFolder)})
	if err != nil {
		return err
	}
	plugins[i].DeployTargets = []config.DeployTarget{{Name: localTarget, Config: target}}
	return nil
}

// withSampleMetrics gives the plugin analysis the metrics that samples bring, unless the user has configured it.
func withSampleMetrics(plugins []workspace.Plugin, samples []string) error {
	i := slices.IndexFunc(plugins, func(p workspace.Plugin) bool { return p.Name == "analysis" })
	if i < 0 || plugins[i].Config != nil {
		return nil
	}
	for _, name := range samples {
		sample, err := sampleapps.Find(name)
		if err != nil {
			return err
		}
		if sample.Metrics != "" {
			plugins[i].Config = map[string]any{"analysisProviders": []any{map[string]any{
				"name": "sample", "type": "PROMETHEUS", "config": map[string]any{"address": sample.Metrics},
			}}}
		}
	}
	return nil
}

// bringsMetrics reports whether one of the samples brings metrics, for which only the embedded cluster has an address.
func bringsMetrics(samples []string) (bool, error) {
	for _, name := range samples {
		sample, err := sampleapps.Find(name)
		if err != nil || sample.Metrics != "" {
			return err == nil, err
		}
	}
	return false, nil
}
