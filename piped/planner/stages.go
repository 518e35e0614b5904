// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
)

// buildStages asks the plugins for the stages of the chosen strategy. When a quick sync would do nothing
// and there is a pipeline, the pipeline is used: an application whose stages all belong to plugins
// without a quick sync could otherwise never be deployed.
func buildStages(
	ctx context.Context, plugins []applicationPlugin, application *config.Application, c choice,
) ([]*model.PipelineStage, choice, error) {
	build := onRequest
	if application.Planner.AutoRollback {
		build = automatic
	}
	if c.strategy == model.SyncStrategy_QUICK_SYNC {
		stages, err := build(
			func(rollback bool) ([]*model.PipelineStage, error) { return quickSyncStages(ctx, plugins, rollback) },
		)
		if err != nil || hasWork(stages) {
			return stages, c, err
		}
		if application.Pipeline == nil || len(application.Pipeline.Stages) == 0 {
			return nil, c, fmt.Errorf(
				"a quick sync has no stage: %s; add spec.pipeline, or name a plugin that can deploy under spec.plugins",
				noQuickSync(plugins),
			)
		}
		c = pipeline(fmt.Sprintf("Pipeline: %s", noQuickSync(plugins)))
	}
	stages, err := build(func(rollback bool) ([]*model.PipelineStage, error) {
		return pipelineSyncStages(ctx, plugins, application.Pipeline, rollback)
	})
	if err == nil && !hasWork(stages) {
		err = fmt.Errorf("the plugins made no stage of the pipeline")
	}
	return stages, c, err
}

// RollbackMetadataKey is the metadata of a rollback stage that is only run when a user who cancels the
// deployment asks for it; its value is RollbackOnRequest. Others are run whenever the deployment fails.
const (
	RollbackMetadataKey = "pipedeck/rollback"
	RollbackOnRequest   = "on-request"
)

func automatic(build func(rollback bool) ([]*model.PipelineStage, error)) ([]*model.PipelineStage, error) {
	return build(true)
}

// onRequest plans without rollback, as the application says, and adds the rollback stages for users who
// change their mind. They are asked for apart, so that a plugin that cannot plan a rollback holds up
// nothing. (PipeCD's ECS plugin cannot; it is used without autoRollback.)
func onRequest(build func(rollback bool) ([]*model.PipelineStage, error)) ([]*model.PipelineStage, error) {
	stages, err := build(false)
	if err != nil {
		return nil, err
	}
	all, err := build(true)
	if died(err) || quarantined(err) {
		return nil, err
	}
	if err != nil {
		return stages, nil //nolint:nilerr // see above
	}
	_, rollbacks := divide(all)
	for _, stage := range rollbacks {
		if stage.Metadata == nil {
			stage.Metadata = map[string]string{}
		}
		stage.Metadata[RollbackMetadataKey] = RollbackOnRequest
	}
	return append(stages, rollbacks...), nil
}

func noQuickSync(plugins []applicationPlugin) string {
	if len(plugins) == 1 {
		return fmt.Sprintf("plugin %s has no quick sync", plugins[0].Name())
	}
	return fmt.Sprintf("none of the %d plugins has a quick sync", len(plugins))
}

func hasWork(stages []*model.PipelineStage) bool {
	return slices.ContainsFunc(stages, func(s *model.PipelineStage) bool { return !s.GetRollback() })
}

// quickSyncStages are every plugin's stages in order, each requiring the one before it, rollback stages
// last. PipeCD v1 gives them no requirements, yet runs them in this order.
func quickSyncStages(ctx context.Context, plugins []applicationPlugin, rollback bool) ([]*model.PipelineStage, error) {
	var stages []*model.PipelineStage
	for _, plugin := range plugins {
		response, err := plugin.Deployment().BuildQuickSyncStages(
			ctx, &deployment.BuildQuickSyncStagesRequest{Rollback: rollback},
		)
		if err != nil {
			return nil, fmt.Errorf("plugin %s could not build the stages of a quick sync: %w", plugin.Name(), err)
		}
		if err := checkNames(plugin, plugins, response.GetStages()); err != nil {
			return nil, err
		}
		stages = append(stages, response.GetStages()...)
	}
	complete(stages)
	normal, rollbacks := divide(stages)
	for i, stage := range normal[min(1, len(normal)):] {
		stage.Requires = []string{normal[i].GetId()}
	}
	return append(normal, rollbacks...), nil
}

// pipelineSyncStages are the configured stages, each after those it requires, then the rollback stages in
// the order of the stages they undo.
func pipelineSyncStages(
	ctx context.Context, plugins []applicationPlugin, configured *config.Pipeline, rollback bool,
) ([]*model.PipelineStage, error) {
	var stages []*model.PipelineStage
	for _, plugin := range plugins {
		if len(plugin.stages) == 0 {
			continue
		}
		response, err := plugin.Deployment().BuildPipelineSyncStages(
			ctx, &deployment.BuildPipelineSyncStagesRequest{Rollback: rollback, Stages: plugin.stages},
		)
		if err != nil {
			return nil, fmt.Errorf("plugin %s could not build the stages of the pipeline: %w", plugin.Name(), err)
		}
		if err := checkIndexes(plugin, response.GetStages()); err != nil {
			return nil, err
		}
		if err := checkNames(plugin, plugins, response.GetStages()); err != nil {
			return nil, err
		}
		stages = append(stages, response.GetStages()...)
	}
	complete(stages)
	slices.SortStableFunc(stages, func(a, b *model.PipelineStage) int { return int(a.GetIndex() - b.GetIndex()) })
	normal, rollbacks := divide(stages)
	keepIDs(normal, configured)
	return append(connect(normal, configured.Requires()), rollbacks...), nil
}

// StageIDMetadataKey is the metadata of a stage with the id that the author gave it in the pipeline.
const StageIDMetadataKey = "pipedeck/stage-id"

// keepIDs reports the ids of the author to users: those of the protocol are unique, but mean nothing to readers.
func keepIDs(stages []*model.PipelineStage, configured *config.Pipeline) {
	for _, stage := range stages {
		id := configured.Stages[stage.GetIndex()].ID
		if id == "" {
			continue
		}
		if stage.Metadata == nil {
			stage.Metadata = map[string]string{}
		}
		stage.Metadata[StageIDMetadataKey] = id
	}
}

// divide keeps the order.
func divide(stages []*model.PipelineStage) (normal, rollbacks []*model.PipelineStage) {
	for _, stage := range stages {
		if stage.GetRollback() {
			rollbacks = append(rollbacks, stage)
		} else {
			normal = append(normal, stage)
		}
	}
	return normal, rollbacks
}

// checkIndexes holds a plugin to the protocol: each index is one of the request's, once among the normal
// stages and once among the rollback stages.
func checkIndexes(plugin applicationPlugin, stages []*model.PipelineStage) error {
	type place struct {
		index    int32
		rollback bool
	}
	seen := map[place]bool{}
	for _, stage := range stages {
		known := slices.ContainsFunc(
			plugin.stages,
			func(s *deployment.BuildPipelineSyncStagesRequest_StageConfig) bool {
				return s.GetIndex() == stage.GetIndex()
			},
		)
		at := place{stage.GetIndex(), stage.GetRollback()}
		if !known || seen[at] {
			return fmt.Errorf("plugin %s gave stage %s the index %d, which it was not asked for or has used already: "+
				"this is a mistake in the plugin",
				plugin.Name(), stage.GetName(), stage.GetIndex())
		}
		seen[at] = true
	}
	return nil
}

// checkNames refuses a stage that no plugin of the application has: the deployment would end in its middle, when the
// stage has no one who runs it. PipeCD v1 finds that only then.
func checkNames(plugin applicationPlugin, all []applicationPlugin, stages []*model.PipelineStage) error {
	for _, stage := range stages {
		offered := func(p applicationPlugin) bool { return p.Offers(stage.GetName()) }
		if !slices.ContainsFunc(all, offered) {
			return fmt.Errorf("plugin %s planned the stage %q, which it does not offer: this is a mistake in the "+
				"plugin", plugin.Name(), stage.GetName())
		}
	}
	return nil
}

// complete fills in what piped owns: ids, the first status, and times where a plugin gave none.
func complete(stages []*model.PipelineStage) {
	now := time.Now().Unix()
	for _, stage := range stages {
		stage.Id = uuid.NewString()
		stage.Requires = nil
		stage.Status = model.StageStatus_STAGE_NOT_STARTED_YET
		if stage.GetCreatedAt() == 0 {
			stage.CreatedAt = now
		}
		if stage.GetUpdatedAt() == 0 {
			stage.UpdatedAt = now
		}
	}
}
