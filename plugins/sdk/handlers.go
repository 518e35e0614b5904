// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

// handlers is a plugin without its type parameters: what the gRPC services call. Optional ones are nil.
type handlers struct {
	start     func(context.Context) error
	close     func() error
	stages    func() []string
	versions  func(context.Context, *deployment.PlanPluginInput) ([]ArtifactVersion, error)
	strategy  func(context.Context, *deployment.PlanPluginInput) (*Strategy, error)
	pipeline  func(context.Context, bool, []StageConfig) ([]Stage, error)
	quickSync func(context.Context, bool) ([]Stage, error)
	execute   func(context.Context, *deployment.ExecutePluginInput, *stageLog, *stageClient) (Result, error)
	livestate func(context.Context, *livestate.GetLivestateRequest) (*Livestate, error)
	changes   *LivestateChanges
	drift     func(context.Context, *livestate.GetDriftRequest) ([]ResourceDrift, error)
	sources   func(stage string) Sources
	once      func(stage string) bool
	removal   func() string
	// clusterFaults says that its stages have faults happen in their calls to a cluster.
	clusterFaults bool
	plans         bool // inspects the sources when it plans
	planPreview   func(context.Context, *planpreview.GetPlanPreviewRequest) ([]PlanPreview, error)
	card
}

// card is what a plugin says of itself.
type card struct {
	schema  []byte
	version string
}

// bound is a plugin with its configuration decoded.
type bound[Config, Target, App any] struct {
	plugin  DeploymentPlugin[Config, Target, App]
	name    string
	config  Config
	targets []DeployTarget[Target]
	client  *pipedClient
	logger  *slog.Logger
	how     decoding
	deploys bool
}

// newPlugin wraps plugin; author is the value whose optional methods count.
func newPlugin[Config, Target, App any](plugin DeploymentPlugin[Config, Target, App], author any, deploys bool) Plugin {
	return Plugin{bind: func(settings Settings, client *pipedClient, logger *slog.Logger, how decoding) (*handlers,
		error) {
		if err := checkSignatures[Config, Target, App](author); err != nil {
			return nil, fmt.Errorf("plugin %s: %w", settings.Name, err)
		}
		b := &bound[Config, Target, App]{plugin: plugin, name: settings.Name, client: client,
			logger: logger, how: how, deploys: deploys}
		if err := b.decode(settings); err != nil {
			return nil, err
		}
		h := &handlers{
			stages: plugin.Stages, versions: b.versions, strategy: b.strategy,
			pipeline: b.pipeline, quickSync: b.quickSync, execute: b.execute,
		}
		if starter, ok := author.(Starter[Config, Target]); ok {
			h.start = func(ctx context.Context) error {
				return starter.Start(ctx, &Env[Config, Target]{Name: b.name, Config: b.config, Targets: b.targets,
					Client: client, Logger: logger})
			}
		}
		h.plans = deploys
		h.sources = func(string) Sources { return AllSources }
		if user, ok := author.(SourceUser); ok {
			h.sources = user.Sources
		}
		if only, ok := author.(OnceOnly); ok {
			h.once = only.Once
		}
		if caller, ok := author.(ClusterCaller); ok {
			h.clusterFaults = caller.TakesClusterFaults()
		}
		if remover, ok := author.(Remover); ok {
			h.removal = remover.RemovalStage
		}
		if closer, ok := author.(io.Closer); ok {
			h.close = closer.Close
		}
		if p, ok := author.(LivestatePlugin[Config, Target, App]); ok {
			h.livestate = func(ctx context.Context, req *livestate.GetLivestateRequest) (*Livestate, error) {
				return b.livestate(ctx, p, req)
			}
			if w, ok := author.(LivestateWatcher); ok {
				h.changes = w.LivestateChanges()
			}
			if d, ok := author.(DriftPlugin[Config, Target, App]); ok {
				h.drift = func(ctx context.Context, r *livestate.GetDriftRequest) ([]ResourceDrift, error) {
					return b.drift(ctx, d, r)
				}
			}
		}
		if p, ok := author.(PlanPreviewPlugin[Config, Target, App]); ok {
			h.planPreview = func(ctx context.Context, req *planpreview.GetPlanPreviewRequest) ([]PlanPreview, error) {
				return b.planPreview(ctx, p, req)
			}
		}
		return h, nil
	}}
}

// decode decodes the configurations of the plugin and of its deploy targets.
func (b *bound[Config, Target, App]) decode(settings Settings) (err error) {
	if err := b.how.into(settings.Config, &b.config); err != nil {
		return fmt.Errorf("plugin %s: config is not valid: %w", settings.Name, err)
	}
	if b.targets, err = decodeTargets[Target](settings, b.how); err != nil {
		return err
	}
	if b.deploys && len(b.targets) == 0 {
		return fmt.Errorf("plugin %s deploys but has no deploy target; add at least one under deployTargets of the "+
			"plugin in the piped configuration", settings.Name)
	}
	return nil
}

func (b *bound[Config, Target, App]) plan(in *deployment.PlanPluginInput) (*PlanRequest[Config, Target, App], error) {
	running, target, err := b.sources(in.GetRunningDeploymentSource(), in.GetTargetDeploymentSource())
	if err != nil {
		return nil, err
	}
	return &PlanRequest[Config, Target, App]{
		Config: b.config, Deployment: deploymentOf(in.GetDeployment()), Running: running, Target: target,
		Client: b.client, Logger: b.logger,
		Targets: knownTargets(b.targets, b.targetNames(in.GetDeployment())),
	}, nil
}

func (b *bound[Config, Target, App]) versions(ctx context.Context,
	in *deployment.PlanPluginInput) ([]ArtifactVersion, error) {
	// The first question about a deployment: with this code the answer ends a plan whose stages could only fail.
	if _, err := decodeSource[App](in.GetTargetDeploymentSource(), b.name, b.how); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	req, err := b.plan(in)
	if err != nil {
		return nil, err
	}
	return b.plugin.DetermineVersions(ctx, req)
}

func (b *bound[Config, Target, App]) strategy(ctx context.Context, in *deployment.PlanPluginInput) (*Strategy, error) {
	req, err := b.plan(in)
	if err != nil {
		return nil, err
	}
	return b.plugin.DetermineStrategy(ctx, req)
}

func (b *bound[Config, Target, App]) pipeline(ctx context.Context, rollback bool, stages []StageConfig) ([]Stage,
	error) {
	return b.plugin.BuildPipelineStages(ctx, &PipelineRequest[Config]{Config: b.config, Rollback: rollback,
		Stages: stages, Client: b.client, Logger: b.logger})
}

func (b *bound[Config, Target, App]) quickSync(ctx context.Context, rollback bool) ([]Stage, error) {
	return b.plugin.BuildQuickSyncStages(ctx, &QuickSyncRequest[Config]{Config: b.config, Rollback: rollback,
		Client: b.client, Logger: b.logger})
}

func (b *bound[Config, Target, App]) execute(ctx context.Context, in *deployment.ExecutePluginInput, log *stageLog,
	client *stageClient) (Result, error) {
	var targets []DeployTarget[Target]
	if b.deploys {
		var err error
		if targets, err = pickTargets(b.targets, b.targetNames(in.GetDeployment())); err != nil {
			return Failure, &requestError{err}
		}
	}
	running, target, err := b.sources(in.GetRunningDeploymentSource(), in.GetTargetDeploymentSource())
	if err != nil {
		return Failure, &requestError{err}
	}
	stage := stageStateOf(in.GetStage())
	return b.plugin.ExecuteStage(ctx, &ExecuteRequest[Config, Target, App]{
		Config: b.config, Deployment: deploymentOf(in.GetDeployment()), Stage: &stage, Options: in.GetStageConfig(),
		Targets: targets, Running: running, Target: target, Log: log, Client: client, ofApplication: len(targets),
	})
}

// freshKey is the metadata with which piped asks for a live state that is not remembered.
const freshKey = "pipedeck-fresh-look"

func (b *bound[Config, Target, App]) livestate(ctx context.Context, plugin LivestatePlugin[Config, Target, App],
	in *livestate.GetLivestateRequest) (*Livestate, error) {
	req, err := b.livestateRequest(in)
	if err != nil {
		return nil, err
	}
	asked, _ := metadata.FromIncomingContext(ctx)
	req.Fresh = len(asked.Get(freshKey)) > 0
	return plugin.GetLivestate(ctx, req)
}

func (b *bound[Config, Target, App]) livestateRequest(in *livestate.GetLivestateRequest) (
	*LivestateRequest[Config, Target, App], error) {
	targets, err := pickTargets(b.targets, in.GetDeployTargets())
	if err != nil {
		return nil, err
	}
	source, err := decodeSource[App](in.GetDeploySource(), b.name, decoding{})
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return &LivestateRequest[Config, Target, App]{
		Config: b.config, PipedID: in.GetPipedId(), ApplicationID: in.GetApplicationId(),
		ApplicationName: in.GetApplicationName(),
		Source:          source, Targets: targets, Client: b.client, Logger: b.logger,
	}, nil
}

func (b *bound[Config, Target, App]) drift(ctx context.Context, plugin DriftPlugin[Config, Target, App],
	in *livestate.GetDriftRequest) ([]ResourceDrift, error) {
	req, err := b.livestateRequest(in.GetLivestate())
	if err != nil {
		return nil, err
	}
	newest, err := decodeSource[App](in.GetNewestSource(), b.name, decoding{})
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return plugin.GetDrift(ctx, &DriftRequest[Config, Target, App]{LivestateRequest: *req, Newest: newest})
}

func (b *bound[Config, Target, App]) planPreview(ctx context.Context, plugin PlanPreviewPlugin[Config, Target, App],
	req *planpreview.GetPlanPreviewRequest) ([]PlanPreview, error) {
	targets, err := pickTargets(b.targets, req.GetDeployTargets())
	if err != nil {
		return nil, err
	}
	running, target, err := b.sources(req.GetRunningDeploymentSource(), req.GetTargetDeploymentSource())
	if err != nil {
		return nil, err
	}
	return plugin.GetPlanPreview(ctx, &PlanPreviewRequest[Config, Target, App]{
		Config: b.config, PipedID: req.GetPipedId(), ApplicationID: req.GetApplicationId(),
		ApplicationName: req.GetApplicationName(),
		Targets:         targets, Running: running, Target: target, Client: b.client,
		Logger: b.logger,
	})
}

func (b *bound[Config, Target, App]) targetNames(d *model.Deployment) []string {
	return d.GetDeployTargetsByPlugin()[b.name].GetDeployTargets()
}

func (b *bound[Config,
	Target, App]) sources(runningSource, targetSource *common.DeploymentSource) (running, target *Source[App],
	err error) {
	running, errRunning := decodeSource[App](runningSource, b.name, decoding{})
	target, errTarget := decodeSource[App](targetSource, b.name, b.how)
	if err := errors.Join(errRunning, errTarget); err != nil {
		return nil, nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return running, target, nil
}
