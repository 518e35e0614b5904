// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/livestate"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/preview"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/strategy"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// plugin answers piped.
type plugin struct {
	*engine.Engine
	engine.StagePlan
}

func newPlugin(e *engine.Engine) engine.Plugin {
	return &plugin{Engine: e, StagePlan: engine.StagePlan{
		Name:     func(single string) string { return single },
		Check:    config.CheckOptions,
		SyncText: "Sync by applying all manifests",
	}}
}

// DetermineVersions names the images of the workloads. It is the first question about every deployment, so a pipeline
// that is certain to fail is reported here.
func (p *plugin) DetermineVersions(ctx context.Context, req *engine.PlanRequest) ([]sdk.ArtifactVersion, error) {
	if err := stage.CheckPlan(req.Deployment, req.Target); err != nil {
		return nil, err
	}
	manifests, err := p.load(ctx, req, req.Target)
	if err != nil {
		return nil, err
	}
	if err := p.CheckRoutes(ctx, req.Deployment, req.Targets, req.Target, req.Running, manifests); err != nil {
		return nil, err
	}
	var versions engine.Versions
	versions.Add(manifests, req.Target.App.Workloads)
	return versions.List(), nil
}

// DetermineStrategy compares the running manifests with the new ones.
func (p *plugin) DetermineStrategy(ctx context.Context, req *engine.PlanRequest) (*sdk.Strategy, error) {
	target, err := p.load(ctx, req, req.Target)
	if err != nil {
		return nil, err
	}
	if req.Running == nil {
		return &sdk.Strategy{Sync: sdk.QuickSync,
			Summary: "Quick sync because nothing has been deployed before" + firstOnly(req.Targets)}, nil
	}
	running, err := p.load(ctx, req, req.Running)
	if err != nil {
		return nil, err
	}
	decision := strategy.Decide(running, target, req.Target.App.Workloads)
	s := &sdk.Strategy{Sync: sdk.QuickSync, Summary: decision.Summary + firstOnly(req.Targets)}
	if decision.Pipeline {
		s.Sync = sdk.PipelineSync
	}
	return s, nil
}

// firstOnly shows readers of a plan that not all deploy targets are deployed to (PipeCD v1).
func firstOnly(targets []stage.Target) string {
	if len(targets) < 2 {
		return ""
	}
	return fmt.Sprintf(" (only at %s, the first of %d deploy targets: kubernetes_multicluster deploys to all)",
		targets[0].Name, len(targets))
}

// ExecuteStage runs a stage.
func (p *plugin) ExecuteStage(ctx context.Context, req *stage.Request) (sdk.Result, error) {
	for _, sentence := range config.Unread(req.Stage.Name, req.Options) {
		req.Log.Infof("Warning: %s", sentence)
	}
	if err := p.Execute(ctx, req); err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, nil
}

// GetLivestate reports what runs, and how that differs from what was deployed.
func (p *plugin) GetLivestate(ctx context.Context, req *livestate.Request) (*sdk.Livestate, error) {
	return p.Livestate(ctx, livestate.Query{
		PipedID: req.PipedID, ApplicationID: req.ApplicationID, ApplicationName: req.ApplicationName,
		// PipeCD v1: only the first one is deployed to.
		Destinations: []livestate.Destination{{Target: req.Targets[0], Source: req.Source}},
	})
}

// GetDrift reports in which fields the cluster differs from Git.
func (p *plugin) GetDrift(ctx context.Context, req *livestate.DriftRequest) ([]sdk.ResourceDrift, error) {
	return p.Drift(ctx, livestate.Query{
		PipedID: req.PipedID, ApplicationID: req.ApplicationID, ApplicationName: req.ApplicationName,
		Destinations: []livestate.Destination{{Target: req.Targets[0], Source: req.Source, Newest: req.Newest}},
	})
}

// GetPlanPreview reports what a commit would change in the cluster.
func (p *plugin) GetPlanPreview(ctx context.Context, req *preview.Request) ([]sdk.PlanPreview, error) {
	first := req.Targets[0]
	previews, err := p.Preview(ctx, preview.Query{
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

func (p *plugin) load(ctx context.Context, req *engine.PlanRequest,
	s *sdk.Source[config.Application]) ([]manifest.Manifest, error) {
	manifests, err := p.Load(ctx, req.Targets, s, stage.IsUpgrade(req.Running))
	if err != nil {
		return nil, fmt.Errorf("load the manifests of %s at commit %s: %w", s.ConfigFilename, s.CommitHash, err)
	}
	return manifests, nil
}
