// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import "context"

// StagePlugin owns stages.
type StagePlugin[Config, DeployTargetConfig, ApplicationConfigSpec any] interface {
	// FetchDefinedStages names every stage that the plugin owns, rollback stages included.
	FetchDefinedStages() []string
	// BuildPipelineSyncStages turns configured stages into stages of a deployment. The configuration is never nil.
	BuildPipelineSyncStages(context.Context, *Config, *BuildPipelineSyncStagesInput) (*BuildPipelineSyncStagesResponse,
		error)
	// ExecuteStage runs one stage to its end. The list of deploy targets is empty for a plugin of stages.
	ExecuteStage(context.Context, *Config, []*DeployTarget[DeployTargetConfig],
		*ExecuteStageInput[ApplicationConfigSpec]) (*ExecuteStageResponse, error)
}

type (
	// ConfigNone is the configuration of a plugin without one.
	ConfigNone = *struct{}
	// DeployTargetsNone are the deploy targets of a plugin without any.
	DeployTargetsNone = []*DeployTarget[struct{}]
)

// DeployTarget is one place to deploy to.
type DeployTarget[Config any] struct {
	Name   string
	Labels map[string]string
	Config Config
}

// BuildPipelineSyncStagesInput asks for the stages of a pipeline.
type BuildPipelineSyncStagesInput struct {
	Request BuildPipelineSyncStagesRequest
	Client  *Client
	Logger  *Logger
}

// BuildPipelineSyncStagesRequest has the configured stages that the plugin owns.
type BuildPipelineSyncStagesRequest struct {
	Rollback bool
	Stages   []StageConfig
}

// StageConfig is one stage of a configured pipeline.
type StageConfig struct {
	Index int
	Name  string
	// Config is the JSON of the stage's "with".
	Config []byte
}

// BuildPipelineSyncStagesResponse has the planned stages.
type BuildPipelineSyncStagesResponse struct{ Stages []PipelineStage }

// PipelineStage is one planned stage.
type PipelineStage struct {
	Index               int
	Name                string
	Rollback            bool
	Metadata            map[string]string
	AvailableOperation  ManualOperation
	AuthorizedOperators []string
}

// ManualOperation is what a user may do to a running stage.
type ManualOperation int

// The operations.
const (
	ManualOperationNone ManualOperation = iota
	ManualOperationSkip
	ManualOperationApprove
)

// ExecuteStageInput asks for a stage to be run.
type ExecuteStageInput[ApplicationConfigSpec any] struct {
	Request ExecuteStageRequest[ApplicationConfigSpec]
	Client  *Client
	Logger  *Logger
}

// ExecuteStageRequest is the stage and its deployment.
type ExecuteStageRequest[ApplicationConfigSpec any] struct {
	StageName  string
	StageIndex int
	// StageConfig is the JSON of the stage's "with".
	StageConfig []byte
	// RunningDeploymentSource is empty before the first successful deployment.
	RunningDeploymentSource DeploymentSource[ApplicationConfigSpec]
	TargetDeploymentSource  DeploymentSource[ApplicationConfigSpec]
	Deployment              Deployment
}

// Deployment is the deployment of the stage.
type Deployment struct {
	ID              string
	ApplicationID   string
	ApplicationName string
	PipedID         string
	ProjectID       string
	// TriggeredBy is the user who asked for the deployment, else the author of the commit.
	TriggeredBy string
	// CreatedAt is in seconds since 1970.
	CreatedAt     int64
	RepositoryURL string
	Summary       string
	Labels        map[string]string
}

// ExecuteStageResponse is how the stage ended.
type ExecuteStageResponse struct {
	Status StageStatus
	// DeployTargetStatuses are not sent to piped, as in PipeCD's SDK.
	DeployTargetStatuses []DeployTargetStatus
}

// DeployTargetStatus is how the stage ended at one deploy target.
type DeployTargetStatus struct {
	Name    string
	Status  StageStatus
	Message string
}

// StageStatus is how a stage ended.
type StageStatus int

// The statuses.
const (
	_ StageStatus = iota
	StageStatusSuccess
	StageStatusFailure
	StageStatusExited
	StageStatusSkipped
)
