// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
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

// noteBuild writes a line into the log of an attempt before the plugin does: the build that gets the call.
// The control plane gets the build with the line, because the process that executes a stage is known only when it takes
// the call.
func (e *executor) noteBuild(
	ctx context.Context, stage *model.PipelineStage, plugin string, build *agentv1.PluginBuild,
) {
	if build.GetHash() == "" || e.apart {
		return
	}
	if e.options.Announce != nil {
		run := e.options.Announce(&agentv1.StageRun{Plugin: plugin, Build: build})
		ctx = withRun(ctx, run)
	}
	e.reports.note(ctx, stage, named, model.LogSeverity_INFO, buildLine(stage.GetName(), plugin, build))
}

// withRun returns a context for a report with what a stage is executed with.
func withRun(ctx context.Context, run *agentv1.StageRun) context.Context {
	if data, err := proto.Marshal(run); err == nil && len(data) > 0 {
		return metadata.AppendToOutgoingContext(ctx, stageRunKey, string(data))
	}
	return ctx
}

// buildLine says "Stage GREET by plugin greeter, version v1.2.0, build 4c1f0e9a2b7d of 2026-11-26 23:31:05".
func buildLine(stage, plugin string, build *agentv1.PluginBuild) string {
	line := fmt.Sprintf("Stage %s by plugin %s", stage, plugin)
	if build.GetVersion() != "" {
		line += ", version " + build.GetVersion()
	}
	line += ", build " + build.GetHash()
	if build.GetBuiltAt().IsValid() {
		line += " of " + build.GetBuiltAt().AsTime().Local().Format(time.DateTime)
	}
	return line
}
