// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
)

// stageOptions are what the plugin gets: the options in Git, or what a user has edited at a breakpoint.
func (e *executor) stageOptions(
	stage *model.PipelineStage, application *config.Application,
) (options []byte, timeout time.Duration) {
	options, timeout = configuredOptions(e.progress.deployment, stage, application)
	if edited := e.progress.editedOptions(stage); edited != nil {
		options = edited
	}
	return options, timeout
}

// configuredOptions are the stage's part of the application configuration and its timeout. A quick sync has no
// options, and that is how plugins distinguish it from a pipeline (PipeCD v1).
func configuredOptions(
	d *model.Deployment, stage *model.PipelineStage, application *config.Application,
) ([]byte, time.Duration) {
	if d.GetTrigger().GetSyncStrategy() != model.SyncStrategy_PIPELINE {
		return nil, config.DefaultTimeout.Std()
	}
	if application.Pipeline == nil || int(stage.GetIndex()) >= len(application.Pipeline.Stages) ||
		stage.GetIndex() < 0 {
		return []byte("{}"), config.DefaultTimeout.Std()
	}
	configured := application.Pipeline.Stages[stage.GetIndex()]
	timeout := configured.Timeout.Std()
	if stage.GetRollback() || timeout <= 0 {
		timeout = config.DefaultTimeout.Std()
	}
	return planner.WithJSON(configured.With), timeout
}
