// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"log/slog"
)

// None is the type of a configuration that a plugin does not have.
type None = struct{}

// StagePlugin owns stages that need no deploy target. Config is the plugin's part of the piped
// configuration (plugins[].config), decoded from JSON; use None when there is none.
//
// Methods may run at the same time for different deployments. What is passed in is read only.
type StagePlugin[Config any] interface {
	// Stages names every stage that the plugin owns, rollback stages included.
	Stages() []string
	// BuildPipelineStages turns configured stages into stages of a deployment. An error fails the
	// deployment at planning with its text. CopyStages does for most plugins.
	BuildPipelineStages(ctx context.Context, req *PipelineRequest[Config]) ([]Stage, error)
	// ExecuteStage runs one stage to its end. When ctx ends it has to stop and return soon; StopCause
	// reports why. An error is written to the stage log and fails the stage whatever the Result says.
	// It must tolerate being called again for the same stage, after a crash of the agent.
	ExecuteStage(ctx context.Context, req *StageRequest[Config]) (Result, error)
}

// DeploymentPlugin owns stages that bring an application to deploy targets. Target is the configuration
// of one deploy target, App the plugin's part of the application configuration (spec.plugins.<name>).
//
// A configuration type with a method Validate() error is checked after decoding.
type DeploymentPlugin[Config, Target, App any] interface {
	Stages() []string
	// DetermineVersions names the artifacts that a deployment brings out.
	DetermineVersions(ctx context.Context, req *PlanRequest[Config, Target, App]) ([]ArtifactVersion, error)
	// DetermineStrategy chooses between quick sync and pipeline; nil is the pipeline. The deployment of
	// the request may hold only the application's id and name (PipeCD v1: plan preview).
	DetermineStrategy(ctx context.Context, req *PlanRequest[Config, Target, App]) (*Strategy, error)
	BuildPipelineStages(ctx context.Context, req *PipelineRequest[Config]) ([]Stage, error)
	// BuildQuickSyncStages names the stages of a sync without a pipeline.
	BuildQuickSyncStages(ctx context.Context, req *QuickSyncRequest[Config]) ([]Stage, error)
	ExecuteStage(ctx context.Context, req *ExecuteRequest[Config, Target, App]) (Result, error)
}

// LivestatePlugin is an optional part of a DeploymentPlugin: what runs at the deploy targets now.
type LivestatePlugin[Config, Target, App any] interface {
	GetLivestate(ctx context.Context, req *LivestateRequest[Config, Target, App]) (*Livestate, error)
}

// DriftPlugin is an optional part of a LivestatePlugin: the fields in which the live state differs from Git.
type DriftPlugin[Config, Target, App any] interface {
	// GetDrift names resources by the ids that GetLivestate gives them. It is called after GetLivestate has found a
	// difference, or when Git has a newer commit than the one that was deployed last.
	GetDrift(ctx context.Context, req *DriftRequest[Config, Target, App]) ([]ResourceDrift, error)
}

// PlanPreviewPlugin is an optional part of a DeploymentPlugin: what a change would do.
type PlanPreviewPlugin[Config, Target, App any] interface {
	// GetPlanPreview gives one answer for each deploy target of the request, and changes nothing anywhere. An error is
	// shown to the user in place of all of them.
	GetPlanPreview(ctx context.Context, req *PlanPreviewRequest[Config, Target, App]) ([]PlanPreview, error)
}

// Starter is an optional part of any plugin, called once before the first request is served. ctx ends
// when the plugin gets the request to stop. It should return at once and do long work in goroutines that Close
// (io.Closer, called after the last request has ended) waits for. An error ends the process.
type Starter[Config, Target any] interface {
	Start(ctx context.Context, env *Env[Config, Target]) error
}

// Env is what a plugin knows before the first request.
type Env[Config, Target any] struct {
	// Name is the plugin's name in the piped configuration.
	Name    string
	Config  Config
	Targets []DeployTarget[Target]
	Client  Client
	// Logger writes to the log of the process, not to a stage.
	Logger *slog.Logger
}

// Plugin is a plugin ready to be served by Main or Run; made by ForStages or ForDeployment.
type Plugin struct {
	bind func(Settings, *pipedClient, *slog.Logger, decoding) (*handlers, error)
	// schema is empty when the plugin ships none.
	schema []byte
	// version is empty unless the author gives one.
	version string
	// strict refuses unknown keys of configurations.
	strict bool
}

// ForStages wraps a plugin that only has stages.
func ForStages[Config any](plugin StagePlugin[Config]) Plugin {
	return newPlugin[Config, None, None](stagesOnly[Config]{plugin}, plugin, false)
}

// ForDeployment wraps a plugin that deploys. It needs at least one deploy target to start
// (PipeCD v1: the same rule).
func ForDeployment[Config, Target, App any](plugin DeploymentPlugin[Config, Target, App]) Plugin {
	return newPlugin(plugin, plugin, true)
}

// stagesOnly gives a StagePlugin the rest of a DeploymentPlugin's methods; their answers are those of
// PipeCD v1's stage plugins.
type stagesOnly[Config any] struct{ StagePlugin[Config] }

func (stagesOnly[Config]) DetermineVersions(context.Context,
	*PlanRequest[Config, None, None]) ([]ArtifactVersion, error) {
	return nil, nil
}

func (stagesOnly[Config]) DetermineStrategy(context.Context, *PlanRequest[Config, None, None]) (*Strategy, error) {
	return &Strategy{Unsupported: true}, nil
}

func (stagesOnly[Config]) BuildQuickSyncStages(context.Context, *QuickSyncRequest[Config]) ([]Stage, error) {
	return nil, nil
}
