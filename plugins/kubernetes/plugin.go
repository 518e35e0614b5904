// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/preview"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

type planRequest = sdk.PlanRequest[config.Plugin, config.DeployTarget, config.Application]

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
	return &plugin{loader: loader, pool: pool, executor: stage.NewExecutor(loader, pool),
		live:     livestate.NewStore(loader, pool),
		previews: preview.New(loader, pool)}
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
func (p *plugin) Stages() []string { return config.Stages() }

// DetermineVersions names the images of the workloads. It is the first question about every deployment, so a pipeline
// that is certain to fail is told here.
func (p *plugin) DetermineVersions(ctx context.Context, req *planRequest) ([]*model.ArtifactVersion, error) {
	if err := stage.CheckPlan(req.Deployment, req.Target); err != nil {
		return nil, err
	}
	manifests, err := p.load(ctx, req, req.Target)
	if err != nil {
		return nil, err
	}
	var versions []*model.ArtifactVersion
	for _, image := range strategy.Versions(manifests, req.Target.App.Workloads) {
		versions = append(versions, &model.ArtifactVersion{Version: image.Version(), Name: image.Name,
			Url: image.Reference})
	}
	return versions, nil
}

// DetermineStrategy compares the running manifests with the new ones.
func (p *plugin) DetermineStrategy(ctx context.Context, req *planRequest) (*sdk.Strategy, error) {
	target, err := p.load(ctx, req, req.Target)
	if err != nil {
		return nil, err
	}
	if req.Running == nil {
		return &sdk.Strategy{Sync: model.SyncStrategy_QUICK_SYNC,
			Summary: "Quick sync because nothing has been deployed before" + firstOnly(req.Targets)}, nil
	}
	running, err := p.load(ctx, req, req.Running)
	if err != nil {
		return nil, err
	}
	decision := strategy.Decide(running, target, req.Target.App.Workloads)
	s := &sdk.Strategy{Sync: model.SyncStrategy_QUICK_SYNC, Summary: decision.Summary + firstOnly(req.Targets)}
	if decision.Pipeline {
		s.Sync = model.SyncStrategy_PIPELINE
	}
	return s, nil
}

// firstOnly tells who reads a plan that not all deploy targets are deployed to (PipeCD v1).
func firstOnly(targets []stage.Target) string {
	if len(targets) < 2 {
		return ""
	}
	return fmt.Sprintf(" (only at %s, the first of %d deploy targets: kubernetes_multicluster deploys to all)",
		targets[0].Name, len(targets))
}

// BuildPipelineStages checks the options of the configured stages, so that a mistake is seen before anything runs.
func (p *plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config.Plugin]) ([]sdk.Stage, error) {
	stages := make([]sdk.Stage, 0, len(req.Stages)+1)
	first := -1
	for _, configured := range req.Stages {
		if err := config.CheckOptions(configured.Name, configured.Options); err != nil {
			return nil, fmt.Errorf("stage %d of the pipeline: %w", configured.Index+1, err)
		}
		if first < 0 || configured.Index < first {
			first = configured.Index
		}
		stages = append(stages, sdk.Stage{Name: configured.Name, Desc: configured.Desc, Index: configured.Index})
	}
	if req.Rollback && len(req.Stages) > 0 {
		// PipeCD v1: the rollback stage has the index of the first one.
		stages = append(stages, sdk.Stage{Name: config.StageRollback, Index: first, Rollback: true})
	}
	return stages, nil
}

// BuildQuickSyncStages gives the one stage of a quick sync, and its rollback.
func (p *plugin) BuildQuickSyncStages(_ context.Context, req *sdk.QuickSyncRequest[config.Plugin]) ([]sdk.Stage,
	error) {
	stages := []sdk.Stage{{Name: config.StageSync, Desc: "Sync by applying all manifests"}}
	if req.Rollback {
		stages = append(stages, sdk.Stage{Name: config.StageRollback, Desc: "Rollback the deployment", Rollback: true})
	}
	return stages, nil
}

// ExecuteStage runs a stage.
func (p *plugin) ExecuteStage(ctx context.Context, req *stage.Request) (sdk.Result, error) {
	for _, sentence := range config.Unread(req.Stage.GetName(), req.Options) {
		req.Log.Infof("Warning: %s", sentence)
	}
	if err := p.executor.Execute(ctx, req); err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, nil
}

// GetLivestate reports what runs, and how that differs from what was deployed.
func (p *plugin) GetLivestate(ctx context.Context, req *livestate.Request) (*sdk.Livestate, error) {
	return p.live.Get(ctx, livestate.Query{
		PipedID: req.PipedID, ApplicationID: req.ApplicationID,
		// PipeCD v1: only the first one is deployed to.
		Destinations: []livestate.Destination{{Target: req.Targets[0], Source: req.Source}},
	})
}

// GetPlanPreview reports what a commit would change in the cluster.
func (p *plugin) GetPlanPreview(ctx context.Context, req *preview.Request) ([]sdk.PlanPreview, error) {
	first := req.Targets[0]
	previews, err := p.previews.Preview(ctx, preview.Query{
		PipedID: req.PipedID, ApplicationID: req.ApplicationID,
		Destinations: []preview.Destination{{Target: first, Running: req.Running, Wanted: req.Target}},
	})
	if err != nil {
		return nil, err
	}
	for _, other := range req.Targets[1:] {
		previews = append(previews, sdk.PlanPreview{
			Target: other.Name, NoChange: true,
			Summary: fmt.Sprintf("not deployed to: only the first deploy target, %s, is", first.Name),
		})
	}
	return previews, nil
}

// LivestateChanges reports when that may be another answer.
func (p *plugin) LivestateChanges() *sdk.LivestateChanges { return p.live.Changes() }

func (p *plugin) load(ctx context.Context, req *planRequest, s *sdk.Source[config.Application]) ([]manifest.Manifest,
	error) {
	manifests, err := p.loader.Load(ctx, req.Targets, s)
	if err != nil {
		return nil, fmt.Errorf("load the manifests of %s at commit %s: %w", s.ConfigFilename, s.CommitHash, err)
	}
	return manifests, nil
}
