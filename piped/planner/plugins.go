// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// applicationPlugin is a plugin that takes part in a deployment, with the configured stages it owns.
type applicationPlugin struct {
	*pluginhost.Plugin
	stages []*deployment.BuildPipelineSyncStagesRequest_StageConfig
}

// applicationPlugins lists the plugins of an application: those that own a stage of the pipeline, in the
// order of their first stages (PipeCD v1), or without a pipeline those named under spec.plugins, in the
// order of the piped configuration.
func (p *Planner) applicationPlugins(
	ctx context.Context, application *config.Application,
) ([]applicationPlugin, error) {
	// A plugin of it in its first start is waited for, so that a deployment right after the start finds it.
	switch {
	case application.Pipeline != nil && len(application.Pipeline.Stages) > 0:
		return p.owners(ctx, application.Pipeline)
	case len(application.Plugins) > 0:
		return p.named(ctx, application.Plugins)
	default:
		return nil, errNoPlugin
	}
}

func (p *Planner) owners(ctx context.Context, pipeline *config.Pipeline) ([]applicationPlugin, error) {
	var list []applicationPlugin
	for i, stage := range pipeline.Stages {
		owner, err := p.options.Plugins.Owner(ctx, stage.Name)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(list, func(known applicationPlugin) bool { return known.Plugin == owner })
		if at < 0 {
			at = len(list)
			list = append(list, applicationPlugin{Plugin: owner})
		}
		list[at].stages = append(list[at].stages, stageConfig(i, stage))
	}
	return list, nil
}

func (p *Planner) named(ctx context.Context, names map[string]json.RawMessage) ([]applicationPlugin, error) {
	plugins, err := p.options.Plugins.Named(ctx, slices.Sorted(maps.Keys(names))...)
	if err != nil {
		return nil, err
	}
	var list []applicationPlugin
	for _, plugin := range plugins {
		list = append(list, applicationPlugin{Plugin: plugin})
	}
	return list, nil
}

func stageConfig(index int, stage config.Stage) *deployment.BuildPipelineSyncStagesRequest_StageConfig {
	return &deployment.BuildPipelineSyncStagesRequest_StageConfig{
		Name:   stage.Name,
		Desc:   stage.Desc,
		Index:  int32(index),
		Config: WithJSON(stage.With),
	}
}

// WithJSON is what a plugin gets as the options of a stage: {} when the file has none.
func WithJSON(with json.RawMessage) []byte {
	if len(with) == 0 || string(with) == "null" {
		return []byte("{}")
	}
	return slices.Clone(with)
}

func planInput(d *model.Deployment, sources *sources) *deployment.PlanPluginInput {
	return &deployment.PlanPluginInput{
		Deployment:              d,
		RunningDeploymentSource: sources.runningProto(),
		TargetDeploymentSource:  sources.target.Proto(),
	}
}
