// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// injection is what a user wants to see in one attempt at a stage: around the call of its plugin, and in the calls of
// the plugin to a cluster.
type injection struct {
	*fault.Attempt
	set   *fault.Set
	stage fault.Stage
	given *fault.Given
}

// faults takes those of a new attempt. The caller ends it.
func (e *executor) faults(stage *model.PipelineStage) *injection {
	of := fault.Stage{
		Application: e.progress.deployment.GetApplicationId(), Deployment: e.progress.id(), ID: stage.GetId(),
		Names: []string{stage.GetName(), word(stage)},
	}
	return &injection{Attempt: e.options.Faults.Begin(of), set: e.options.Faults, stage: of}
}

// give takes what a plugin gets that has faults happen in its calls to a cluster.
func (i *injection) give(plugin *pluginhost.Plugin) {
	if plugin.TakesClusterFaults() {
		i.given = i.set.Give(i.stage)
	}
}

// settle takes what the plugin says of the faults that it was given, unless it did not get the stage.
func (i *injection) settle(err error, trailer metadata.MD) {
	var down *pluginhost.NotRunningError
	var changed *pluginhost.SourcesChangedError
	if !errors.As(err, &changed) && (!errors.As(err, &down) || down.Begun) {
		i.given.Settle(trailer)
	}
}

// end is the end of the attempt.
func (i *injection) end() {
	i.Attempt.End()
	i.given.Return()
}

// inject has happen what a user wants before the plugin gets the stage.
func (e *executor) inject(
	ctx context.Context, stage *model.PipelineStage, faults *injection, taken *pluginhost.Taken,
) error {
	return faults.Before(ctx, e.options.Clock, taken.Kill, func(ctx context.Context, lines int) error {
		return e.reports.flood(ctx, stage, lines)
	})
}

// explained says in the reason of a stage, or in why it is interrupted, what was injected and led to it.
func explained(result stageResult, faults *injection) stageResult {
	if result.interrupted != nil {
		why := result.interrupted.Error()
		if said := faults.given.Explain(faults.Explain(fault.Exited, why)); said != why {
			result.interrupted = fmt.Errorf("%s%w", strings.TrimSuffix(said, why), result.interrupted)
		}
		return result
	}
	outcome := fault.Passed
	if result.status == model.StageStatus_STAGE_FAILURE || result.status == model.StageStatus_STAGE_CANCELLED {
		outcome = fault.Failed
	}
	result.reason = faults.given.Explain(faults.Explain(outcome, result.reason))
	return result
}

// floodBlock is how many lines one report of a flood has.
const floodBlock = 1000

// flood writes lines into the log of a stage, each as a block of its log. They stand before those of the plugin, which
// numbers its own from now on.
func (r *reports) flood(ctx context.Context, stage *model.PipelineStage, lines int) error {
	now := r.clock.Now()
	first := now.UnixMicro() - int64(lines)
	for from := 0; from < lines; from += floodBlock {
		request := &pipedservice.ReportStageLogsRequest{
			DeploymentId: r.progress.id(), StageId: stage.GetId(), RetriedCount: stage.GetRetriedCount(),
		}
		for i := from; i < min(from+floodBlock, lines); i++ {
			request.Blocks = append(request.Blocks, &model.LogBlock{
				Index: first + int64(i), Log: fmt.Sprintf("%sline %d of %d", fault.Injected, i+1, lines),
				Severity: model.LogSeverity_INFO, CreatedAt: now.Unix(),
			})
		}
		if _, err := r.controlPlane.ReportStageLogs(ctx, request); err != nil {
			return fmt.Errorf("write the flood of lines: %w", err)
		}
	}
	return nil
}
