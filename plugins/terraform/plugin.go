// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/module"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// plugin answers piped.
type plugin struct {
	config config.Plugin
	// workDir is that of the configuration, with its default.
	workDir  string
	programs *session.Programs
	folders  folders
	made     madePlans
	watch    *watch
}

func newPlugin() *plugin { return &plugin{watch: newWatch()} }

type (
	planRequest    = sdk.PlanRequest[config.Plugin, config.Target, config.Application]
	executeRequest = sdk.ExecuteRequest[config.Plugin, config.Target, config.Application]
)

var (
	_ sdk.DeploymentPlugin[config.Plugin, config.Target, config.Application] = (*plugin)(nil)
	_ sdk.Starter[config.Plugin, config.Target]                              = (*plugin)(nil)
	_ io.Closer                                                              = (*plugin)(nil)
)

// Start creates the folders that the plugin keeps.
func (p *plugin) Start(_ context.Context, env *sdk.Env[config.Plugin, config.Target]) error {
	p.config, p.workDir = env.Config, env.Config.WorkDir
	if p.workDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("find the folder for saved plans: %w\nnext step: set config.workDir of the plugin", err)
		}
		p.workDir = filepath.Join(cache, "pipedeck", "terraform")
	}
	for _, name := range []string{plansName, "providers"} {
		if err := os.MkdirAll(filepath.Join(p.workDir, name), 0o700); err != nil {
			return fmt.Errorf("create the folder for %s: %w", name, err)
		}
	}
	p.programs = session.NewPrograms(filepath.Join(p.workDir, "programs"))
	p.watch.start(p.config.DriftInterval.Std())
	return p.sweep()
}

// Close ends what Start began, and deletes plans that have grown old meanwhile.
func (p *plugin) Close() error {
	p.watch.close()
	return p.sweep()
}

// Stages names all three.
func (*plugin) Stages() []string {
	return []string{config.StagePlan, config.StageApply, config.StageRollback}
}

// DetermineVersions names the modules and providers that the configuration asks for, else the commit.
func (p *plugin) DetermineVersions(_ context.Context, req *planRequest) ([]sdk.ArtifactVersion, error) {
	if _, err := module.BackendOf(req.Target.Dir); err != nil {
		return nil, err
	}
	found, err := module.Versions(req.Target.Dir)
	if err != nil {
		return nil, err
	}
	var versions []sdk.ArtifactVersion
	for _, v := range found {
		versions = append(versions, sdk.ArtifactVersion{Name: v.Name, Version: v.Version, URL: v.URL})
	}
	if len(versions) == 0 {
		name := cmp.Or(req.Deployment.Application.Name, "configuration")
		versions = append(versions, sdk.ArtifactVersion{Name: name, Version: short(req.Target.CommitHash)})
	}
	return versions, nil
}

// short is the form of a hash for people.
func short(hash string) string { return hash[:min(len(hash), 7)] }

// DetermineStrategy leaves the choice to the pipeline: a plan finds out what changes (PipeCD v1).
func (*plugin) DetermineStrategy(context.Context, *planRequest) (*sdk.Strategy, error) {
	return nil, nil
}

// BuildPipelineStages adds one rollback, at the place of the first stage.
func (*plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config.Plugin]) ([]sdk.Stage, error) {
	var stages []sdk.Stage
	first := -1
	for _, configured := range req.Stages {
		stage, err := planned(configured)
		if err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", configured.Index, configured.Name, err)
		}
		if first < 0 || configured.Index < first {
			first = configured.Index
		}
		stages = append(stages, stage)
	}
	if req.Rollback && first >= 0 {
		stages = append(stages, sdk.Stage{Name: config.StageRollback, Index: first, Rollback: true,
			Operation: sdk.OperationApprove, Metadata: working(),
			Desc: "Apply the configuration of the commit before"})
	}
	return stages, nil
}

// planned is a configured stage as a stage of a deployment.
func planned(configured sdk.StageConfig) (sdk.Stage, error) {
	stage := sdk.Stage{Name: configured.Name, Index: configured.Index}
	if configured.Name == config.StagePlan {
		_, err := sdk.DecodeOptions[config.PlanOptions](configured.Options)
		return stage, err
	}
	options, err := sdk.DecodeOptions[config.ApplyOptions](configured.Options)
	if err == nil && (options.AllowDestroy == "" || options.AllowDestroy == config.DestroyApproval) {
		stage.Operation, stage.Operators, stage.Metadata = sdk.OperationApprove, options.Approvers, working()
	}
	return stage, err
}

// working is the metadata of a stage that may come to wait for an approval, and works until then.
func working() map[string]string { return map[string]string{sdk.WaitingMetadataKey: sdk.WaitingNo} }

// BuildQuickSyncStages is one stage that plans and applies.
func (*plugin) BuildQuickSyncStages(_ context.Context, req *sdk.QuickSyncRequest[config.Plugin]) ([]sdk.Stage, error) {
	stages := []sdk.Stage{{Name: config.StageApply, Desc: "Plan, and apply what the plan has",
		Operation: sdk.OperationApprove, Metadata: working()}}
	if req.Rollback {
		stages = append(stages, sdk.Stage{Name: config.StageRollback, Rollback: true,
			Operation: sdk.OperationApprove, Metadata: working(),
			Desc: "Apply the configuration of the commit before"})
	}
	return stages, nil
}

// ExecuteStage runs a stage, and deletes the plans that it leaves behind.
func (p *plugin) ExecuteStage(ctx context.Context, req *executeRequest) (sdk.Result, error) {
	result, err := p.execute(ctx, req)
	p.dropPlans(ctx, req, result)
	return result, err
}

func (p *plugin) execute(ctx context.Context, req *executeRequest) (sdk.Result, error) {
	switch req.Stage.Name {
	case config.StagePlan:
		return p.plan(ctx, req)
	case config.StageApply:
		return p.apply(ctx, req)
	case config.StageRollback:
		return p.rollback(ctx, req)
	}
	return sdk.Failure, fmt.Errorf("stage %q is not one of this plugin's", req.Stage.Name)
}

// place is the application of a request at one of its deploy targets.
func (p *plugin) place(req *executeRequest, source *session.Source, target session.Target) (session.Place, error) {
	dir, err := p.copyFor(req, source.Dir)
	if err != nil {
		return session.Place{}, err
	}
	own := *source
	own.Dir = dir
	return session.Place{ApplicationID: req.Deployment.Application.ID, Source: &own, Target: target, Config: p.config,
		Programs: p.programs, WorkDir: p.workDir}, nil
}

// copyFor is the directory of the source for one deploy target: with several, each works in a copy, because the program
// keeps its workspace and modules there.
func (p *plugin) copyFor(req *executeRequest, dir string) (string, error) {
	if len(req.Targets) < 2 {
		return dir, nil
	}
	return copyNext(dir)
}
