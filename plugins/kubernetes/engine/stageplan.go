// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// StagePlan plans the stages of a plugin.
type StagePlan struct {
	// Name gives the plugin's name of a stage for one cluster.
	Name func(single string) string
	// Check returns what is wrong with the options of a stage of the pipeline.
	Check func(name string, options []byte) error
	// SyncText describes the stage of a quick sync.
	SyncText string
}

// Stages names the stages.
func (s StagePlan) Stages() []string {
	var names []string
	for _, name := range config.Stages() {
		names = append(names, s.Name(name))
	}
	return names
}

// RemovalStage names the stage that deletes what an application has deployed.
func (s StagePlan) RemovalStage() string { return s.Name(config.StageRemove) }

// BuildPipelineStages checks the options of the configured stages, so that a mistake is seen before anything runs.
func (s StagePlan) BuildPipelineStages(
	_ context.Context, req *sdk.PipelineRequest[config.Plugin],
) ([]sdk.Stage, error) {
	stages := make([]sdk.Stage, 0, len(req.Stages)+1)
	first := -1
	for _, configured := range req.Stages {
		if err := s.Check(configured.Name, configured.Options); err != nil {
			return nil, fmt.Errorf("stage %d of the pipeline: %w", configured.Index+1, err)
		}
		if first < 0 || configured.Index < first {
			first = configured.Index
		}
		stages = append(stages, sdk.Stage{Name: configured.Name, Desc: configured.Desc, Index: configured.Index})
	}
	if req.Rollback && len(req.Stages) > 0 {
		// PipeCD v1: the rollback stage has the index of the first one.
		stages = append(stages, sdk.Stage{Name: s.Name(config.StageRollback), Index: first, Rollback: true})
	}
	return stages, nil
}

// BuildQuickSyncStages returns the one stage of a quick sync, and its rollback.
func (s StagePlan) BuildQuickSyncStages(
	_ context.Context, req *sdk.QuickSyncRequest[config.Plugin],
) ([]sdk.Stage, error) {
	stages := []sdk.Stage{{Name: s.Name(config.StageSync), Desc: s.SyncText}}
	if req.Rollback {
		stages = append(stages, sdk.Stage{
			Name: s.Name(config.StageRollback), Desc: "Rollback the deployment", Rollback: true,
		})
	}
	return stages, nil
}
