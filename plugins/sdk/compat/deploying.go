// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// WithDeploymentPlugin adds the stages and the planning of a plugin that deploys.
func WithDeploymentPlugin[Config, DeployTargetConfig, ApplicationConfigSpec any](
	plugin DeploymentPlugin[Config, DeployTargetConfig, ApplicationConfigSpec],
) PluginOption[Config, DeployTargetConfig, ApplicationConfigSpec] {
	return func(p *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]) {
		p.stages, p.deployment = plugin, plugin
	}
}

// deployAdapter is a deployment plugin of pipedeck's SDK that calls one of PipeCD's.
type deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec any] struct {
	adapter *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]
	plugin  DeploymentPlugin[Config, DeployTargetConfig, ApplicationConfigSpec]
}

var (
	_ sdk.DeploymentPlugin[sdk.None, sdk.None, sdk.None] = (*deployAdapter[sdk.None, sdk.None, sdk.None])(nil)
	_ sdk.Starter[sdk.None, sdk.None]                    = (*deployAdapter[sdk.None, sdk.None, sdk.None])(nil)
)

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) Start(ctx context.Context,
	env *sdk.Env[Config, DeployTargetConfig]) error {
	targets := map[string]*DeployTarget[DeployTargetConfig]{}
	for _, target := range targetsOf(env.Targets) {
		targets[target.Name] = target
	}
	return d.adapter.start(ctx, env.Name, env.Config, targets, env.Client, env.Logger)
}

func targetsOf[DeployTargetConfig any](targets []sdk.DeployTarget[DeployTargetConfig]) (
	of []*DeployTarget[DeployTargetConfig]) {
	for _, t := range targets {
		of = append(of, &DeployTarget[DeployTargetConfig]{Name: t.Name, Labels: t.Labels, Config: t.Config})
	}
	return of
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) Stages() []string {
	return d.adapter.Stages()
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) BuildPipelineStages(ctx context.Context,
	req *sdk.PipelineRequest[Config]) ([]sdk.Stage, error) {
	return d.adapter.BuildPipelineStages(ctx, req)
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) DetermineVersions(ctx context.Context,
	req *sdk.PlanRequest[Config, DeployTargetConfig, sdk.None]) ([]sdk.ArtifactVersion, error) {
	target, err := sourceOf[ApplicationConfigSpec](req.Target, d.adapter.name)
	if err != nil {
		return nil, err
	}
	config := req.Config
	resp, err := d.plugin.DetermineVersions(ctx, &config, &DetermineVersionsInput[ApplicationConfigSpec]{
		Request: DetermineVersionsRequest[ApplicationConfigSpec]{
			Deployment: deploymentOf(req.Deployment), DeploymentSource: target,
		},
		Client: &Client{client: req.Client}, Logger: &Logger{req.Logger},
	})
	if err != nil || resp == nil {
		return nil, err
	}
	var versions []sdk.ArtifactVersion
	for _, v := range resp.Versions {
		versions = append(versions, sdk.ArtifactVersion{Version: v.Version, Name: v.Name, URL: v.URL})
	}
	return versions, nil
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) DetermineStrategy(ctx context.Context,
	req *sdk.PlanRequest[Config, DeployTargetConfig, sdk.None]) (*sdk.Strategy, error) {
	running, errRunning := sourceOf[ApplicationConfigSpec](req.Running, d.adapter.name)
	target, errTarget := sourceOf[ApplicationConfigSpec](req.Target, d.adapter.name)
	if err := errors.Join(errRunning, errTarget); err != nil {
		return nil, err
	}
	config := req.Config
	resp, err := d.plugin.DetermineStrategy(ctx, &config, &DetermineStrategyInput[ApplicationConfigSpec]{
		Request: DetermineStrategyRequest[ApplicationConfigSpec]{
			Deployment: deploymentOf(req.Deployment), RunningDeploymentSource: running, TargetDeploymentSource: target,
		},
		Client: &Client{client: req.Client}, Logger: &Logger{req.Logger},
	})
	switch {
	case err != nil || resp == nil: // no answer is the pipeline, as in PipeCD v1
		return nil, err
	case resp.Strategy == SyncStrategyQuickSync:
		return &sdk.Strategy{Sync: sdk.QuickSync, Summary: resp.Summary}, nil
	case resp.Strategy == SyncStrategyPipelineSync:
		return &sdk.Strategy{Sync: sdk.PipelineSync, Summary: resp.Summary}, nil
	}
	return nil, fmt.Errorf("the plugin gave the strategy %d, which there is not", resp.Strategy)
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) BuildQuickSyncStages(ctx context.Context,
	req *sdk.QuickSyncRequest[Config]) ([]sdk.Stage, error) {
	config := req.Config
	resp, err := d.plugin.BuildQuickSyncStages(ctx, &config, &BuildQuickSyncStagesInput{
		Request: BuildQuickSyncStagesRequest{Rollback: req.Rollback}, Client: &Client{client: req.Client},
		Logger: &Logger{req.Logger},
	})
	if err != nil || resp == nil {
		return nil, err
	}
	var stages []sdk.Stage
	for _, s := range resp.Stages {
		operation, err := s.AvailableOperation.operation()
		if err != nil {
			return nil, fmt.Errorf("stage %s: %w", s.Name, err)
		}
		stages = append(stages, sdk.Stage{Name: s.Name, Desc: s.Description, Rollback: s.Rollback,
			Metadata: s.Metadata, Operation: operation})
	}
	return stages, nil
}

func (d *deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]) ExecuteStage(ctx context.Context,
	req *sdk.ExecuteRequest[Config, DeployTargetConfig, sdk.None]) (sdk.Result, error) {
	stage := &sdk.StageRequest[Config]{
		Config: req.Config, Deployment: req.Deployment, Stage: req.Stage, Options: req.Options, Running: req.Running,
		Target: req.Target, Log: req.Log, Client: req.Client,
	}
	return d.adapter.execute(ctx, stage, targetsOf(req.Targets))
}
