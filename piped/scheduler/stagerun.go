// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"

	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// stageRunKey is the gRPC metadata, in a report that a stage runs, with what it is executed with. Only the control
// plane of pipedeck reads it, to show it.
const stageRunKey = "pipedeck-stage-run-bin"

// maxRunConfig bounds the options of a stage in stageRunKey, because servers bound the metadata of a call.
const maxRunConfig = 4 << 10

// stageRun is what the control plane learns about the run of a stage: nil for nothing. The plugin is missing while it
// starts.
func (e *executor) stageRun(stage *model.PipelineStage, application *config.Application) *agentv1.StageRun {
	if e.options.Announce == nil {
		return nil
	}
	options, timeout := e.stageOptions(stage, application)
	run := &agentv1.StageRun{Timeout: durationpb.New(timeout)}
	if len(options) <= maxRunConfig {
		run.Config = options
	}
	now, end := context.WithCancel(context.Background())
	end() // without a wait
	if plugin, err := e.options.Plugins.Owner(now, stage.GetName()); err == nil {
		run.Plugin = plugin.Name()
	}
	return e.options.Announce(run)
}
