// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// inject has happen what a user wants before the plugin gets the stage.
func (e *executor) inject(
	ctx context.Context, stage *model.PipelineStage, faults *fault.Attempt, taken *pluginhost.Taken,
) error {
	return faults.Before(ctx, e.options.Clock, taken.Kill, func(ctx context.Context, lines int) error {
		return e.reports.flood(ctx, stage, lines)
	})
}

// explained says in the reason of a stage, or in why it is interrupted, what was injected.
func explained(result stageResult, faults *fault.Attempt) stageResult {
	switch {
	case faults == nil:
	case result.interrupted != nil:
		result.interrupted = fmt.Errorf("%s: %w", faults, result.interrupted)
	default:
		result.reason = faults.Explain(result.reason)
	}
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
