// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
)

// planRemoval plans the deletion of what an application has deployed: the removal stage of each plugin that deploys,
// the last of a sync first. Its target is the commit that was deployed last. There is no rollback.
func (p *Planner) planRemoval(ctx context.Context, d *model.Deployment, at func(string)) (*model.Deployment, error) {
	at("reading the application configuration and waiting for its plugins")
	_, plugins, err := p.participants(ctx, d)
	if err != nil {
		return nil, err
	}
	at("asking the plugins for the stages")
	stages, unable, err := removalStages(ctx, plugins)
	if err != nil {
		return nil, interruption(err)
	}
	if len(unable) > 0 {
		return nil, &unremovableError{unable, d.GetApplicationName()}
	}
	d.Stages = stages
	d.Versions = []*model.ArtifactVersion{{Version: "unknown"}} // PipeCD v1: stands for none
	d.Summary = d.GetTrigger().GetStrategySummary()
	if len(stages) == 0 {
		d.Summary = "Nothing to delete: none of the application's plugins deploys anything"
	}
	d.Trigger.SyncStrategy = model.SyncStrategy_QUICK_SYNC
	d.Status = model.DeploymentStatus_DEPLOYMENT_PLANNED
	d.StatusReason = "Planned"
	return d, nil
}

// removalStages are the removal stages of the plugins, each requiring the one before it, and the names of the plugins
// that deploy but have no such stage: they would leave things behind that no one knows of any more.
func removalStages(
	ctx context.Context, plugins []applicationPlugin,
) (stages []*model.PipelineStage, unable []string, err error) {
	for _, plugin := range slices.Backward(plugins) {
		if name := plugin.RemovalStage(); name != "" {
			stages = append(stages, &model.PipelineStage{Name: name, Desc: "Delete what the application has deployed"})
			continue
		}
		deploys, err := plugin.deploys(ctx)
		if err != nil {
			return nil, nil, err
		}
		if deploys {
			unable = append(unable, plugin.Name())
		}
	}
	complete(stages)
	for i, stage := range stages[min(1, len(stages)):] {
		stage.Requires = []string{stages[i].GetId()}
	}
	return stages, unable, nil
}

// deploys reports whether a plugin makes anything that stays: only such a plugin has a quick sync.
func (a applicationPlugin) deploys(ctx context.Context) (bool, error) {
	response, err := a.Deployment().BuildQuickSyncStages(ctx, &deployment.BuildQuickSyncStagesRequest{})
	if err != nil {
		return false, fmt.Errorf("plugin %s could not build the stages of a quick sync: %w", a.Name(), err)
	}
	return hasWork(response.GetStages()), nil
}

// refusalTime bounds the questions to plugins before a removal is planned.
const refusalTime = 5 * time.Second

// RefuseRemoval says why what an application has deployed cannot be deleted; empty when it can, or when its plugins do
// not answer soon. A removal that is planned all the same fails with the reason.
func (p *Planner) RefuseRemoval(ctx context.Context, application *config.Application) string {
	ctx, cancel := context.WithTimeout(ctx, refusalTime)
	defer cancel()
	plugins, err := p.applicationPlugins(ctx, application)
	if err != nil {
		return ""
	}
	if _, unable, err := removalStages(ctx, plugins); err == nil && len(unable) > 0 {
		return (&unremovableError{unable, application.Name}).Error()
	}
	return ""
}

// unremovableError names plugins that cannot delete what they have deployed.
type unremovableError struct {
	plugins     []string
	application string
}

// Error names the plugins and the next step.
func (e *unremovableError) Error() string {
	return fmt.Sprintf("plugin %s has no stage that deletes what it has deployed; delete that by hand, then forget "+
		"the application with: pipedeck remove %s --orphan", strings.Join(e.plugins, ", "), e.application)
}
