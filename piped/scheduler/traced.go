// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"

	"github.com/pipedeck/pipedeck/api/model"
)

// traced is toEnd with a span.
func (r *run) traced(ctx context.Context) (Outcome, error) {
	ctx, end := r.options.Tracer.Deploy(ctx, r.deployment)
	outcome, err := r.toEnd(ctx)
	end(outcome.Status, outcome.Reason, err)
	return outcome, err
}

// tracedStage is runStage with a span.
func (r *run) tracedStage(ctx, work context.Context, stage *model.PipelineStage) error {
	ctx, work, end := r.options.Tracer.Stage(ctx, work, r.deployment, stage)
	err := r.runStage(ctx, work, stage)
	r.mu.Lock()
	defer r.mu.Unlock()
	end(stage.GetStatus(), stage.GetStatusReason(), stage.GetRetriedCount())
	return err
}
