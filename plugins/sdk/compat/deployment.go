// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compat

import "context"

// DeploymentPlugin brings applications to deploy targets.
type DeploymentPlugin[Config, DeployTargetConfig, ApplicationConfigSpec any] interface {
	StagePlugin[Config, DeployTargetConfig, ApplicationConfigSpec]

	// DetermineVersions names what a deployment brings out.
	DetermineVersions(context.Context, *Config, *DetermineVersionsInput[ApplicationConfigSpec]) (
		*DetermineVersionsResponse, error)
	// DetermineStrategy decides between a quick sync and the pipeline. Nil is the pipeline.
	DetermineStrategy(context.Context, *Config, *DetermineStrategyInput[ApplicationConfigSpec]) (
		*DetermineStrategyResponse, error)
	// BuildQuickSyncStages are the stages of a deployment without a pipeline.
	BuildQuickSyncStages(context.Context, *Config, *BuildQuickSyncStagesInput) (*BuildQuickSyncStagesResponse, error)
}

// DetermineVersionsInput asks for the versions of a deployment.
type DetermineVersionsInput[ApplicationConfigSpec any] struct {
	Request DetermineVersionsRequest[ApplicationConfigSpec]
	Client  *Client
	Logger  *Logger
}

// DetermineVersionsRequest is a deployment that is being planned.
type DetermineVersionsRequest[ApplicationConfigSpec any] struct {
	Deployment       Deployment
	DeploymentSource DeploymentSource[ApplicationConfigSpec]
}

// DetermineVersionsResponse has the versions.
type DetermineVersionsResponse struct{ Versions []ArtifactVersion }

// ArtifactVersion is one thing that a deployment brings out.
type ArtifactVersion struct{ Version, Name, URL string }

// DetermineStrategyInput asks how to deploy.
type DetermineStrategyInput[ApplicationConfigSpec any] struct {
	Request DetermineStrategyRequest[ApplicationConfigSpec]
	Client  *Client
	Logger  *Logger
}

// DetermineStrategyRequest is a deployment that is being planned.
type DetermineStrategyRequest[ApplicationConfigSpec any] struct {
	Deployment Deployment
	// RunningDeploymentSource is empty before the first successful deployment.
	RunningDeploymentSource DeploymentSource[ApplicationConfigSpec]
	TargetDeploymentSource  DeploymentSource[ApplicationConfigSpec]
}

// DetermineStrategyResponse is how to deploy, and why.
type DetermineStrategyResponse struct {
	Strategy SyncStrategy
	Summary  string
}

// SyncStrategy is a way to deploy.
type SyncStrategy int

// The strategies.
const (
	_ SyncStrategy = iota
	SyncStrategyQuickSync
	SyncStrategyPipelineSync
)

// BuildQuickSyncStagesInput asks for the stages of a quick sync.
type BuildQuickSyncStagesInput struct {
	Request BuildQuickSyncStagesRequest
	Client  *Client
	Logger  *Logger
}

// BuildQuickSyncStagesRequest says whether rollback stages are wanted.
type BuildQuickSyncStagesRequest struct{ Rollback bool }

// BuildQuickSyncStagesResponse has the planned stages.
type BuildQuickSyncStagesResponse struct{ Stages []QuickSyncStage }

// QuickSyncStage is one planned stage.
type QuickSyncStage struct {
	Name               string
	Description        string
	Rollback           bool
	Metadata           map[string]string
	AvailableOperation ManualOperation
}
