// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/planner"
)

// walk brings stages to their end, side by side as far as they do not require each other. What becomes of
// one decides which follow. It belongs to one goroutine; those of the stages only send their end.
type walk struct {
	executor     *executor
	reports      *reports
	cancellation *Cancellation
	// parallel bounds the stages that run at the same time.
	parallel int
	stages   []*model.PipelineStage
	// whatever goes on after a stage that failed.
	whatever bool

	begun map[string]bool // by id, as is reported
	// reported: stages of this walk whose end has been. Their goroutines are over.
	reported map[string]bool
	running  int
	ends     chan stageEnd

	failed *model.PipelineStage // the first that failed by itself
	exited *model.PipelineStage // the first that ended the deployment as a success
	// interrupted are those that ran when a cancellation or the deployment's timeout came, also when they succeeded.
	interrupted []*model.PipelineStage
}

// stageEnd says that a stage has ended, or with err that piped stops and the stage stays as reported last.
type stageEnd struct {
	stage *model.PipelineStage
	err   error
}

// haltedError is the cause of the end of stages whose deployment failed elsewhere.
type haltedError struct{ failed string }

func (e *haltedError) Error() string { return fmt.Sprintf("Stopped because stage %s failed", e.failed) }

// runStages returns when no stage runs and none can start any more. It returns an error only when ctx ended.
func (w *walk) runStages(ctx, work context.Context) error {
	together, halt := context.WithCancelCause(work)
	defer halt(context.Canceled)
	w.review(ctx)
	var stopping error
	for {
		for _, stage := range w.due(together) {
			w.start(ctx, together, stage)
		}
		if !w.whatever {
			w.cancellation.waitsWhile(w.onlyWaits())
		}
		if w.running == 0 {
			w.cancelLeft(ctx, work)
			return stopping
		}
		end := <-w.ends
		w.running--
		if end.err != nil {
			stopping = end.err // the others end as well, by the same cause
			continue
		}
		w.reported[end.stage.GetId()] = true
		w.settle(work, end.stage)
		if w.failed != nil && !w.whatever {
			halt(&haltedError{failed: word(w.failed)})
		}
	}
}

func (w *walk) start(ctx, work context.Context, stage *model.PipelineStage) {
	w.begun[stage.GetId()] = true
	w.running++
	go func() {
		err := w.executor.run(ctx, work, stage)
		w.ends <- stageEnd{stage, err}
	}()
}

// onlyWaits returns what reports that stages run, and that all of them wait for a user or a time. Plugins may change
// that while they run.
func (w *walk) onlyWaits() func() bool {
	running := slices.DeleteFunc(slices.Clone(w.stages), func(stage *model.PipelineStage) bool {
		return !w.begun[stage.GetId()] || w.reported[stage.GetId()]
	})
	always := w.running > 0 && !slices.ContainsFunc(running, func(stage *model.PipelineStage) bool {
		return !waitsInside(stage)
	})
	var says []*model.PipelineStage
	for _, stage := range running {
		if stage.GetMetadata()[waitingMetadataKey] != "" {
			says = append(says, stage)
		}
	}
	return func() bool { return always && !slices.ContainsFunc(says, w.executor.works) }
}

// waitingMetadataKey is the metadata of a planned stage whose plugin says when it waits, yes or no.
const waitingMetadataKey = "pipedeck/waiting"

// works reports whether the plugin of a stage that offers an operation has not said that it waits for it now.
func (e *executor) works(stage *model.PipelineStage) bool {
	_, stages := e.options.Metadata.Metadata(e.progress.id())
	return stages[stage.GetId()][waitingMetadataKey] != "yes"
}

// waitsInside reports that a stage changes nothing: it waits for an approval or a time. PipeCD v1: the stages have
// these names.
func waitsInside(stage *model.PipelineStage) bool {
	return stage.GetAvailableOperation() == model.ManualOperation_MANUAL_OPERATION_APPROVE ||
		stage.GetName() == "WAIT_APPROVAL" || stage.GetName() == "WAIT"
}

// review takes in what an earlier piped left. PipeCD v1: a stage that failed or was cancelled decides the
// result. Those that ran next to it are not run again.
func (w *walk) review(ctx context.Context) {
	if w.whatever {
		return
	}
	for _, status := range []model.StageStatus{
		model.StageStatus_STAGE_FAILURE, model.StageStatus_STAGE_CANCELLED, model.StageStatus_STAGE_EXITED,
	} {
		for _, stage := range w.stages {
			if stage.GetStatus() == status && w.failed == nil && w.exited == nil {
				w.settle(context.Background(), stage)
			}
		}
	}
	if w.failed == nil {
		return
	}
	for _, stage := range w.stages {
		if stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
			w.reports.endStage(
				ctx, stage, model.StageStatus_STAGE_CANCELLED, (&haltedError{failed: word(w.failed)}).Error(),
			)
		}
	}
}

// cancelLeft ends the stages that an earlier piped has begun, when the deployment was cancelled before they began here.
func (w *walk) cancelLeft(ctx, work context.Context) {
	var cancelled *CancelledError
	if w.whatever || ctx.Err() != nil || !errors.As(context.Cause(work), &cancelled) {
		return
	}
	for _, stage := range w.left() {
		if stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
			w.interrupted = append(w.interrupted, stage)
			w.reports.saveCancellation(ctx, cancelled)
			w.reports.endStage(ctx, stage, model.StageStatus_STAGE_CANCELLED, cancelled.Error())
		}
	}
}

// settle takes in the end of a stage.
func (w *walk) settle(work context.Context, stage *model.PipelineStage) {
	if work.Err() != nil && w.failed == nil {
		w.interrupted = append(w.interrupted, stage)
	}
	switch {
	case passed(stage):
	case stage.GetStatus() == model.StageStatus_STAGE_EXITED:
		if w.exited == nil {
			w.exited = stage
		}
	case w.failed != nil, work.Err() != nil:
	default:
		w.failed = stage
	}
}

// due are the stages that can start now, as many as there is room for.
func (w *walk) due(work context.Context) []*model.PipelineStage {
	if work.Err() != nil || (!w.whatever && w.failed != nil) {
		return nil
	}
	var list []*model.PipelineStage
	for _, stage := range w.stages {
		if w.running+len(list) < w.parallel && w.pending(stage) && w.ready(stage) {
			list = append(list, stage)
		}
	}
	return list
}

// pending: only stages that have not begun here are read; the others belong to their goroutines.
func (w *walk) pending(stage *model.PipelineStage) bool {
	return !w.begun[stage.GetId()] && !ended(stage)
}

// ready: all that the stage requires has ended as it should. What is required but not among the stages
// of this walk counts as done. A stage that ran when an earlier piped died is ready; after an exit no other
// one is.
func (w *walk) ready(stage *model.PipelineStage) bool {
	if stage.GetStatus() == model.StageStatus_STAGE_RUNNING {
		return true
	}
	if w.exited != nil {
		return false
	}
	for _, id := range stage.GetRequires() {
		for _, other := range w.stages {
			if other.GetId() == id && !w.over(other) {
				return false
			}
		}
	}
	return true
}

// over reads only stages that no goroutine changes any more.
func (w *walk) over(stage *model.PipelineStage) bool {
	if w.begun[stage.GetId()] && !w.reported[stage.GetId()] {
		return false
	}
	return passed(stage) || (w.whatever && ended(stage))
}

// stoppedAny reports whether a stage did not succeed because of the interruption.
func (w *walk) stoppedAny() bool {
	return slices.ContainsFunc(w.interrupted, func(stage *model.PipelineStage) bool {
		return !passed(stage) && stage.GetStatus() != model.StageStatus_STAGE_EXITED
	})
}

// outcome is that of the normal stages, after runStages.
func (w *walk) outcome(work context.Context) Outcome {
	left := w.left()
	var cancelled *CancelledError
	switch {
	case w.failed != nil:
		return failedStage(w.failed)
	case errors.As(context.Cause(work), &cancelled):
		// Also when all stages succeeded, or one ended the deployment: the command came first.
		return interruption(work, w.interrupted)
	case w.stoppedAny(), work.Err() != nil && w.exited == nil && len(left) > 0:
		return interruption(work, w.interrupted)
	case w.exited != nil:
		return success("The deployment was completed since stage " + word(w.exited) + " asked for it")
	case len(left) > 0:
		reason := "The " + names(left) + " can never start, because they require each other"
		return Outcome{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, Reason: reason}
	default:
		return success("All stages succeeded")
	}
}

// left are the stages that could not start.
func (w *walk) left() []*model.PipelineStage {
	var list []*model.PipelineStage
	for _, stage := range w.stages {
		if w.pending(stage) {
			list = append(list, stage)
		}
	}
	return list
}

func passed(stage *model.PipelineStage) bool {
	s := stage.GetStatus()
	return s == model.StageStatus_STAGE_SUCCESS || s == model.StageStatus_STAGE_SKIPPED
}

func ended(stage *model.PipelineStage) bool {
	switch stage.GetStatus() {
	case model.StageStatus_STAGE_NOT_STARTED_YET, model.StageStatus_STAGE_RUNNING:
		return false
	default:
		return true
	}
}

// names lists stages in words: "stage A", "stages A, B".
func names(stages []*model.PipelineStage) string {
	list := make([]string, 0, len(stages))
	for _, stage := range stages {
		list = append(list, word(stage))
	}
	if len(list) == 1 {
		return "stage " + list[0]
	}
	return "stages " + strings.Join(list, ", ")
}

// word is what users call a stage: the id that its author gave it, else its type.
func word(stage *model.PipelineStage) string {
	return cmp.Or(stage.GetMetadata()[planner.StageIDMetadataKey], stage.GetName())
}
