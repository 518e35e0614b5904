// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/source"
)

// Plugins finds the plugins of stages.
type Plugins interface {
	// Owner returns the plugin that owns a stage. It waits for plugins in their first start.
	Owner(ctx context.Context, stage string) (*pluginhost.Plugin, error)
	// StageSources says which sources the owner of a stage reads.
	StageSources(stage string) deployment.SourceUse
	// HeldTime is how long debuggers have held plugins in all so far.
	HeldTime() time.Duration
}

// Sources prepares what stages get of an application at a commit.
type Sources interface {
	// Prepare returns a source with a directory. The caller closes it.
	Prepare(ctx context.Context, wanted source.Wanted) (*source.Source, error)
	// Describe returns a source without a directory. The caller closes it.
	Describe(ctx context.Context, wanted source.Wanted) (*source.Source, error)
	// Head returns the repository at the head of the branch, where the application need not be. The caller closes it.
	Head(ctx context.Context, d *model.Deployment) (*source.Source, error)
	// ChangedFiles lists the files that differ between two commits of a deployment's repository, relative to its root.
	ChangedFiles(ctx context.Context, d *model.Deployment, from, to string) ([]string, error)
}

// Stages knows the stages that run, for the service that their plugins call.
type Stages interface {
	// BeginStage allows the calls of an attempt at a stage until end is called.
	BeginStage(deploymentID, stageID string, attempt int32) (end func())
	// AwaitLog waits until the log of a stage is complete. It reports whether it is, or the plugin is gone.
	AwaitLog(ctx context.Context, deploymentID, stageID string, gone <-chan struct{}) bool
	// NoteStop keeps the reason for the end of a stage, for its plugin.
	NoteStop(deploymentID, stageID string, why pluginservice.Stop, words string)
}

// Metadata holds the present metadata of deployments.
type Metadata interface {
	// Metadata returns that of a deployment and, by id, of its stages; nil when the deployment is not known.
	Metadata(deploymentID string) (all *model.DeploymentMetadata, stages map[string]map[string]string)
}

// StageCommands holds the commands of users that wait for a stage.
type StageCommands interface {
	// Take removes and returns the commands of a stage.
	Take(deploymentID, stageID string) []*model.Command
	// AwaitDecision waits for a command that says how a paused stage goes on, removes it and returns it. It returns the
	// cause of the end of ctx.
	AwaitDecision(ctx context.Context, deploymentID, stageID string) (*model.Command, error)
}

// Deployments knows the deployments under way, for the service that plugins call.
type Deployments interface {
	// Add makes a deployment known until remove is called.
	Add(d *model.Deployment) (remove func())
	// Running reports whether a stage runs.
	Running(deploymentID, stageID string) bool
}

// Commands holds the commands of users, those that come too late among them.
type Commands interface {
	StageCommands
	// TakeOne removes a command. It reports whether the command was still there.
	TakeOne(id string) bool
}

// Planner plans deployments and reports the plans.
type Planner interface {
	Plan(ctx context.Context, pending *model.Deployment) (*model.Deployment, error)
}

var (
	_ Plugins     = (*pluginhost.Host)(nil)
	_ Sources     = (*source.Sources)(nil)
	_ Stages      = (*pluginservice.Registry)(nil)
	_ Metadata    = (*pluginservice.Registry)(nil)
	_ Deployments = (*pluginservice.Registry)(nil)
	_ Commands    = (*pluginservice.Commands)(nil)
)
