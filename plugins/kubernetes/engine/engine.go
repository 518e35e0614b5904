// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/imagebuilder"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/preview"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Plugin is a plugin for Kubernetes.
type Plugin interface {
	sdk.DeploymentPlugin[config.Plugin, config.DeployTarget, config.Application]
	sdk.LivestatePlugin[config.Plugin, config.DeployTarget, config.Application]
	sdk.PlanPreviewPlugin[config.Plugin, config.DeployTarget, config.Application]
	sdk.LivestateWatcher
	sdk.DriftPlugin[config.Plugin, config.DeployTarget, config.Application]
	sdk.Starter[config.Plugin, config.DeployTarget]
	Close() error
}

// PlanRequest is the SDK's, for the configuration of these plugins.
type PlanRequest = sdk.PlanRequest[config.Plugin, config.DeployTarget, config.Application]

// Main runs the plugin that build makes of an engine. schema is the JSON Schema of its options.
func Main(schema []byte, build func(*Engine) Plugin) {
	helm.ServeIfChild()
	health.ServeIfChild()
	ServeIfRendering()
	ServeIfChecking()
	e := New()
	e.loader.RenderIn(helm.NewChildren(helm.Limits{}))
	sdk.Main(sdk.ForDeployment(build(e)).WithSchema(schema))
}

// Engine does the work of a plugin. It may be used by several goroutines.
type Engine struct {
	loader   *stage.Loader
	pool     *cluster.Pool
	executor *stage.Executor
	live     *livestate.Store
	previews *preview.Previewer
	rules    *health.Rules
}

// New creates an Engine that renders charts in its own process. The caller closes it.
func New() *Engine {
	pool := cluster.NewPool()
	loader := stage.NewLoader(manifest.NewLoader(), imagebuilder.Client{}, pool)
	return &Engine{
		loader: loader, pool: pool, executor: stage.NewExecutor(loader, pool),
		live: livestate.NewStore(loader, pool), previews: preview.New(loader, pool),
	}
}

// Start takes the plugin's own configuration. A rule of health that cannot work is an error.
func (e *Engine) Start(_ context.Context, env *sdk.Env[config.Plugin, config.DeployTarget]) (err error) {
	if e.rules, err = health.Compile(env.Config.Health); err != nil {
		return err
	}
	e.executor.UseHealth(e.rules)
	e.live.UseHealth(e.rules)
	e.loader.Configure(env.Config)
	return nil
}

// Close ends the connections to clusters and the processes that render charts.
func (e *Engine) Close() error {
	e.live.Close()
	e.pool.Close()
	e.loader.Close()
	e.rules.Close()
	return nil
}

// LivestateChanges reports when the live state of an application may be another one.
func (e *Engine) LivestateChanges() *sdk.LivestateChanges { return e.live.Changes() }

// Load loads the manifests of a source; see stage.Loader.Load.
func (e *Engine) Load(ctx context.Context, targets []stage.Target, s *stage.Source, upgrade bool) (
	[]manifest.Manifest, error) {
	return e.loader.Load(ctx, targets, s, upgrade)
}

// TakesClusterFaults says that Execute has faults happen that a user wants to see.
func (e *Engine) TakesClusterFaults() bool { return true }

// Execute runs the stage of the request at its first deploy target. An error that may pass has a cause that says so.
func (e *Engine) Execute(ctx context.Context, req *stage.Request) error {
	ctx, report := cluster.WithFaults(ctx, req.Log)
	defer report()
	err := e.executor.Execute(ctx, req)
	if cluster.Passing(err) {
		return sdk.WithCause(err, sdk.Cause{Kind: sdk.CauseTemporary})
	}
	return err
}

// Left returns what an application still has at the first deploy target of the request, to which it is not deployed any
// more; see stage.Left.
func (e *Engine) Left(ctx context.Context, req *stage.Request) ([]manifest.Key, error) {
	return stage.Left(ctx, e.executor, req)
}

// Drift reports in which fields an application differs from Git.
func (e *Engine) Drift(ctx context.Context, q livestate.Query) ([]sdk.ResourceDrift, error) {
	return e.live.Drift(ctx, q)
}

// Livestate reports what runs, and how that differs from what was deployed.
func (e *Engine) Livestate(ctx context.Context, q livestate.Query) (*sdk.Livestate, error) {
	return e.live.Get(ctx, q)
}

// Preview reports what a commit would change at each destination.
func (e *Engine) Preview(ctx context.Context, q preview.Query) ([]sdk.PlanPreview, error) {
	return e.previews.Preview(ctx, q)
}
