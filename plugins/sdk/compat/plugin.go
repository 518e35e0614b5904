// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Plugin is a plugin to run.
type Plugin[Config, DeployTargetConfig, ApplicationConfigSpec any] struct {
	version string
	stages  StagePlugin[Config, DeployTargetConfig, ApplicationConfigSpec]
	// deployment is nil for a plugin that only has stages.
	deployment  DeploymentPlugin[Config, DeployTargetConfig, ApplicationConfigSpec]
	initializer Initializer[Config, DeployTargetConfig]
}

// PluginOption sets a part of a plugin.
type PluginOption[Config, DeployTargetConfig, ApplicationConfigSpec any] func(
	*Plugin[Config, DeployTargetConfig, ApplicationConfigSpec])

// InitializeInput is what a plugin knows before the first request.
type InitializeInput[Config, DeployTargetConfig any] struct {
	Config *Config
	// DeployTargets is empty for a plugin of stages.
	DeployTargets map[string]*DeployTarget[DeployTargetConfig]
	Client        *Client
	Logger        *Logger
}

// Initializer is called once before the first request. An error ends the process.
type Initializer[Config, DeployTargetConfig any] interface {
	Initialize(context.Context, *InitializeInput[Config, DeployTargetConfig]) error
}

// WithStagePlugin adds the stages.
func WithStagePlugin[Config, DeployTargetConfig, ApplicationConfigSpec any](
	plugin StagePlugin[Config, DeployTargetConfig, ApplicationConfigSpec],
) PluginOption[Config, DeployTargetConfig, ApplicationConfigSpec] {
	return func(p *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]) { p.stages = plugin }
}

// WithInitializer adds an initializer.
func WithInitializer[ApplicationConfigSpec, Config, DeployTargetConfig any](
	initializer Initializer[Config, DeployTargetConfig],
) PluginOption[Config, DeployTargetConfig, ApplicationConfigSpec] {
	return func(p *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]) { p.initializer = initializer }
}

// NewPlugin returns a plugin; version is the author's.
func NewPlugin[Config, DeployTargetConfig, ApplicationConfigSpec any](version string,
	options ...PluginOption[Config, DeployTargetConfig, ApplicationConfigSpec],
) (*Plugin[Config, DeployTargetConfig, ApplicationConfigSpec], error) {
	p := &Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]{version: version}
	for _, option := range options {
		option(p)
	}
	if p.stages == nil {
		return nil, errors.New("the plugin has no stages\nnext step: give NewPlugin the option WithStagePlugin " +
			"or WithDeploymentPlugin")
	}
	return p, nil
}

// Run serves the plugin as piped starts it, and ends the process. It returns no error, as errors end the process, too.
func (p *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]) Run() error {
	sdk.Main(Wrap(p))
	return nil
}

// Wrap returns the plugin of pipedeck's SDK.
func Wrap[Config, DeployTargetConfig, ApplicationConfigSpec any](
	p *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]) sdk.Plugin {
	stages := &adapter[Config, DeployTargetConfig, ApplicationConfigSpec]{plugin: p}
	if p.deployment == nil {
		return sdk.ForStages(stages).WithVersion(p.version)
	}
	return sdk.ForDeployment(&deployAdapter[Config, DeployTargetConfig, ApplicationConfigSpec]{
		adapter: stages, plugin: p.deployment,
	}).WithVersion(p.version)
}

// adapter is a stage plugin of pipedeck's SDK that calls one of PipeCD's.
type adapter[Config, DeployTargetConfig, ApplicationConfigSpec any] struct {
	plugin *Plugin[Config, DeployTargetConfig, ApplicationConfigSpec]
	// name and logger are known from Start on.
	name   string
	logger *slog.Logger
}

var _ sdk.Starter[sdk.None, sdk.None] = (*adapter[sdk.None, sdk.None, sdk.None])(nil)

func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) Start(ctx context.Context,
	env *sdk.Env[Config, sdk.None]) error {
	return a.start(ctx, env.Name, env.Config, map[string]*DeployTarget[DeployTargetConfig]{}, env.Client, env.Logger)
}

// start calls the initializer.
func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) start(ctx context.Context, name string,
	config Config, targets map[string]*DeployTarget[DeployTargetConfig], client sdk.Client, logger *slog.Logger) error {
	a.name, a.logger = name, logger
	if a.plugin.initializer == nil {
		return nil
	}
	return a.plugin.initializer.Initialize(ctx, &InitializeInput[Config, DeployTargetConfig]{
		Config: &config, DeployTargets: targets, Client: &Client{client: client}, Logger: &Logger{logger},
	})
}

func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) Stages() []string {
	return a.plugin.stages.FetchDefinedStages()
}

func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) BuildPipelineStages(ctx context.Context,
	req *sdk.PipelineRequest[Config]) ([]sdk.Stage, error) {
	input := &BuildPipelineSyncStagesInput{
		Request: BuildPipelineSyncStagesRequest{Rollback: req.Rollback}, Client: &Client{client: req.Client},
		Logger: &Logger{req.Logger},
	}
	for _, s := range req.Stages {
		input.Request.Stages = append(input.Request.Stages,
			StageConfig{Index: s.Index, Name: s.Name, Config: s.Options})
	}
	config := req.Config
	resp, err := a.plugin.stages.BuildPipelineSyncStages(ctx, &config, input)
	if err != nil || resp == nil {
		return nil, err
	}
	var stages []sdk.Stage
	for _, s := range resp.Stages {
		operation, err := s.AvailableOperation.operation()
		if err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", s.Index, s.Name, err)
		}
		stages = append(stages, sdk.Stage{Name: s.Name, Index: s.Index, Rollback: s.Rollback, Metadata: s.Metadata,
			Operation: operation, Operators: s.AuthorizedOperators})
	}
	return stages, nil
}

func (o ManualOperation) operation() (sdk.Operation, error) {
	switch o {
	case ManualOperationNone:
		return sdk.OperationNone, nil
	case ManualOperationSkip:
		return sdk.OperationSkip, nil
	case ManualOperationApprove:
		return sdk.OperationApprove, nil
	}
	return sdk.OperationNone, fmt.Errorf("the plugin gave the operation %d, which there is not", o)
}

func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) ExecuteStage(ctx context.Context,
	req *sdk.StageRequest[Config]) (sdk.Result, error) {
	return a.execute(ctx, req, nil)
}

// execute runs a stage, at deploy targets if the plugin deploys.
func (a *adapter[Config, DeployTargetConfig, ApplicationConfigSpec]) execute(ctx context.Context,
	req *sdk.StageRequest[Config], targets []*DeployTarget[DeployTargetConfig]) (sdk.Result, error) {
	running, errRunning := sourceOf[ApplicationConfigSpec](req.Running, a.name)
	target, errTarget := sourceOf[ApplicationConfigSpec](req.Target, a.name)
	if err := errors.Join(errRunning, errTarget); err != nil {
		return sdk.Failure, err
	}
	config := req.Config
	resp, err := a.plugin.stages.ExecuteStage(ctx, &config, targets, &ExecuteStageInput[ApplicationConfigSpec]{
		Request: ExecuteStageRequest[ApplicationConfigSpec]{
			StageName: req.Stage.Name, StageIndex: req.Stage.Index, StageConfig: req.Options,
			RunningDeploymentSource: running, TargetDeploymentSource: target, Deployment: deploymentOf(req.Deployment),
		},
		Client: &Client{client: req.Client, stage: req.Client, log: req.Log,
			applicationID: req.Deployment.Application.ID},
		Logger: &Logger{a.logger},
	})
	if err != nil {
		return sdk.Failure, err
	}
	if resp == nil {
		return 0, nil // no result, which the SDK reports
	}
	// A stage that ends since its context did is stopped, whatever it says.
	if resp.Status == StageStatusFailure && ctx.Err() != nil {
		return sdk.Failure, sdk.StopCause(ctx)
	}
	return resp.Status.result(), nil
}

func (s StageStatus) result() sdk.Result {
	switch s {
	case StageStatusSuccess:
		return sdk.Success
	case StageStatusExited:
		return sdk.Exited
	case StageStatusSkipped:
		return sdk.Skipped
	case StageStatusFailure:
		return sdk.Failure
	}
	return 0
}

func deploymentOf(d *sdk.Deployment) Deployment {
	by := d.Trigger.Commander
	if by == "" {
		by = d.Trigger.Commit.Author
	}
	return Deployment{
		ID: d.ID, ApplicationID: d.Application.ID, ApplicationName: d.Application.Name, PipedID: d.PipedID,
		ProjectID: d.ProjectID, TriggeredBy: by, CreatedAt: d.CreatedAt.Unix(), RepositoryURL: d.Application.Remote,
		Summary: d.Summary, Labels: d.Application.Labels,
	}
}
