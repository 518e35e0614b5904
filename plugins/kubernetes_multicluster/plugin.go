// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/preview"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// plugin answers piped.
type plugin struct {
	loader   *stage.Loader
	pool     *cluster.Pool
	executor *stage.Executor
	live     *livestate.Store
	previews *preview.Previewer
}

var (
	_ sdk.DeploymentPlugin[config.Plugin, config.DeployTarget, config.Application]  = (*plugin)(nil)
	_ sdk.LivestatePlugin[config.Plugin, config.DeployTarget, config.Application]   = (*plugin)(nil)
	_ sdk.PlanPreviewPlugin[config.Plugin, config.DeployTarget, config.Application] = (*plugin)(nil)
	_ sdk.LivestateWatcher                                                          = (*plugin)(nil)
	_ sdk.Starter[config.Plugin, config.DeployTarget]                               = (*plugin)(nil)
)

func newPlugin() *plugin {
	loader, pool := stage.NewLoader(manifest.NewLoader(), imagebuilder.Client{}), cluster.NewPool()
	return &plugin{
		loader: loader, pool: pool, executor: stage.NewExecutor(loader, pool),
		live: livestate.NewStore(loader, pool), previews: preview.New(loader, pool),
	}
}

// Start takes the plugin's own configuration.
func (p *plugin) Start(_ context.Context, env *sdk.Env[config.Plugin, config.DeployTarget]) error {
	p.loader.Configure(env.Config)
	return nil
}

// Close ends the connections to clusters and the processes that render charts.
func (p *plugin) Close() error {
	p.live.Close()
	p.pool.Close()
	p.loader.Close()
	return nil
}

// Stages names the stages.
func (p *plugin) Stages() []string {
	var names []string
	for _, name := range config.Stages() {
		names = append(names, config.MultiName(name))
	}
	return names
}

// BuildPipelineStages checks the options of the configured stages, so that a mistake is seen before anything runs.
func (p *plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config.Plugin]) ([]sdk.Stage, error) {
	stages := make([]sdk.Stage, 0, len(req.Stages)+1)
	first := -1
	for _, configured := range req.Stages {
		name, _ := config.SingleName(configured.Name)
		_, err := config.DecodeMulti(configured.Name, configured.Options)
		if err == nil {
			err = config.CheckOptions(name, configured.Options)
		}
		if err != nil {
			return nil, fmt.Errorf("stage %d of the pipeline: %w", configured.Index+1, inMultiWords(err))
		}
		if first < 0 || configured.Index < first {
			first = configured.Index
		}
		stages = append(stages, sdk.Stage{Name: configured.Name, Desc: configured.Desc, Index: configured.Index})
	}
	if req.Rollback && len(req.Stages) > 0 {
		// PipeCD v1: the rollback stage has the index of the first one.
		stages = append(stages, sdk.Stage{Name: config.MultiName(config.StageRollback), Index: first, Rollback: true})
	}
	return stages, nil
}

// BuildQuickSyncStages gives the one stage of a quick sync, and its rollback.
func (p *plugin) BuildQuickSyncStages(_ context.Context, req *sdk.QuickSyncRequest[config.Plugin]) ([]sdk.Stage,
	error) {
	stages := []sdk.Stage{{Name: config.MultiName(config.StageSync),
		Desc: "Sync by applying all manifests at every deploy target"}}
	if req.Rollback {
		stages = append(stages, sdk.Stage{Name: config.MultiName(config.StageRollback), Desc: "Rollback the deployment",
			Rollback: true})
	}
	return stages, nil
}
