// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/system/clock"
)

// stageResult is how one attempt at a stage ended.
type stageResult struct {
	status model.StageStatus
	reason string
	// interrupted is set when the plugin died; the stage may be tried again.
	interrupted error
	// begun is set with it when the plugin may have begun with the stage.
	begun bool
	// offered is set when a user had the chance to run the stage again at a breakpoint.
	offered bool
	// untouched is set when the stage ended before it began, and is not reported.
	untouched bool
	// unprepared is set when the stage was not called, because its plugin was replaced by one that inspects more.
	unprepared error
}

func failure(reason string) stageResult {
	return stageResult{status: model.StageStatus_STAGE_FAILURE, reason: reason}
}

// maxAttempts bounds the attempts at a stage that piped itself interrupts, because of another stage of the same
// process.
const maxAttempts = 10

// executor runs the stages of one deployment.
type executor struct {
	options      *Options
	progress     *progress
	reports      *reports
	sources      *sourceQueue
	budget       *budget
	cancellation *Cancellation
	pauses       *pauses
	// apart is set for a re-run, whose user gets the build before the log.
	apart bool
}

// run brings one stage to its end, with a span.
func (e *executor) run(ctx, work context.Context, stage *model.PipelineStage) error {
	ctx, work, end := e.options.Tracer.Stage(ctx, work, e.progress.deployment, stage)
	err := e.bringToEnd(ctx, work, stage)
	e.progress.mu.Lock()
	defer e.progress.mu.Unlock()
	end(stage.GetStatus(), stage.GetStatusReason(), stage.GetRetriedCount())
	return err
}

// bringToEnd brings one stage to its end and reports it. A stage whose plugin dies gets a second attempt; the end of a
// process that piped ended because of another stage does not count. It returns an error only when ctx ended: then the
// stage stays as reported last. Work ends earlier than ctx when the deployment is cancelled, out of time or has failed
// elsewhere.
func (e *executor) bringToEnd(ctx, work context.Context, stage *model.PipelineStage) error {
	left := noteOf(stage)
	e.progress.beginRun(stage, left.Run)
	takenUp := stage.GetStatus() == model.StageStatus_STAGE_RUNNING
	if takenUp {
		_, over := left.result()
		e.progress.takeUp(stage, e.options.Clock.Now(), over) // an earlier piped died while it ran
	}
	result := e.attempts(ctx, work, stage, takenUp, left)
	for again := true; again && !result.offered; {
		if result, again = e.pauseAfter(ctx, work, stage, nil, result, pauseNote{}); again {
			result = e.attempts(ctx, work, stage, false, pauseNote{})
		}
	}
	if ctx.Err() != nil && result.status == model.StageStatus_STAGE_CANCELLED {
		return context.Cause(ctx)
	}
	if result.status == model.StageStatus_STAGE_CANCELLED {
		e.reports.saveCancellation(ctx, e.cancellation.by())
	}
	if result.untouched {
		return nil
	}
	e.reports.endStage(ctx, stage, result.status, result.reason)
	e.reports.handleCommands(ctx, stage)
	e.reports.of(stage).Info("stage ended", "status", result.status, "reason", result.reason)
	return nil
}

// attempts makes attempts until the plugin of one does not die. An earlier piped has begun with a stage that is taken
// up, and has left a pause.
func (e *executor) attempts(
	ctx, work context.Context, stage *model.PipelineStage, takenUp bool, left pauseNote,
) stageResult {
	result := e.try(ctx, work, stage, takenUp, left)
	for attempts, deaths := 1, 0; result.interrupted != nil && ctx.Err() == nil && work.Err() == nil; attempts++ {
		if !abandoned(result.interrupted) {
			deaths++
		}
		if reason := e.whyNotAgain(ctx, stage, result, deaths, attempts); reason != "" {
			result = failure(reason)
			e.reports.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, reason)
			break
		}
		e.reports.of(stage).Warn("stage interrupted", "error", result.interrupted)
		e.reports.note(
			ctx, stage, afterPlugin, model.LogSeverity_ERROR,
			fmt.Sprintf("%s; the stage is run again once the plugin is back", result.interrupted),
		)
		e.progress.countAttempt(stage)
		result = e.try(ctx, work, stage, false, pauseNote{})
	}
	if result.interrupted != nil {
		result = e.stopped(ctx, work, stage, result.interrupted)
	}
	return result
}

// whyNotAgain is the reason not to run an interrupted stage again; empty when it is run.
func (e *executor) whyNotAgain(
	ctx context.Context, stage *model.PipelineStage, result stageResult, deaths, attempts int,
) string {
	switch {
	case result.begun && !e.reentrant(ctx, stage):
		return fmt.Sprintf("%s; %s", result.interrupted, onceOnly)
	case deaths > 1:
		return fmt.Sprintf("%s (also in a second attempt)", result.interrupted)
	case attempts >= maxAttempts:
		return fmt.Sprintf("%s (in attempt %d)", result.interrupted, attempts)
	default:
		return ""
	}
}

// abandoned reports that piped itself ended the process of the plugin, because of another stage.
func abandoned(err error) bool {
	var exit *pluginhost.ExitError
	return errors.As(err, &exit) && exit.Abandoned
}

// onceOnly is why a stage is not executed again.
const onceOnly = "the stage is not run again, because its plugin says that it must be executed only once"

func (e *executor) reentrant(ctx context.Context, stage *model.PipelineStage) bool {
	plugin, err := e.options.Plugins.Owner(ctx, stage.GetName())
	return err != nil || plugin.Reentrant(stage.GetName())
}

// try is one attempt, and as many more as a user asks for at breakpoints. An earlier piped has begun with a stage that
// is taken up, and has left a pause.
func (e *executor) try(
	ctx, work context.Context, stage *model.PipelineStage, takenUp bool, left pauseNote,
) stageResult {
	pair, err := e.sources.take(ctx, work, e.options.Plugins.StageSources(stage.GetName()))
	if err != nil {
		if began := e.reports.beginStage(ctx, work, stage, nil, ""); began != nil {
			err = began
		}
		return e.stopped(ctx, work, stage, fmt.Errorf("prepare the sources: %w", err))
	}
	defer pair.close()
	if !stage.GetRollback() {
		if timeout := pair.target.Application().Timeout.Std(); timeout > 0 {
			e.budget.limit(timeout)
		}
		if reason, skip := e.skips(work, stage, pair.target.Application()); skip {
			return stageResult{status: model.StageStatus_STAGE_SKIPPED, reason: reason, offered: true}
		}
	}
	result, over := left.result()
	if !over {
		went, end := e.pauseBefore(ctx, work, stage, pair, left)
		if end != nil {
			end.offered = true
			return *end
		}
		result = e.attempt(ctx, work, stage, pair, takenUp, went)
	}
	for again := true; again; left = (pauseNote{}) {
		if result, again = e.pauseAfter(ctx, work, stage, pair, result, left); again {
			result = e.attempt(ctx, work, stage, pair, false, decision{})
		}
	}
	return result
}

// attempt records the attempt and makes the call. went is how a user went on at a breakpoint before it.
func (e *executor) attempt(
	ctx, work context.Context, stage *model.PipelineStage, pair *sourcePair, takenUp bool, went decision,
) stageResult {
	faults := e.faults(stage)
	defer faults.end()
	run := e.stageRun(stage, pair.target.Application())
	if err := e.reports.beginStage(ctx, work, stage, run, faults.String()); err != nil {
		return e.stopped(ctx, work, stage, err)
	}
	e.beginPaused(ctx, stage, went)
	e.prefetch(ctx)
	plugin, err := e.owner(work, stage)
	if err != nil {
		return e.stopped(ctx, work, stage, err)
	}
	if takenUp && !plugin.Reentrant(stage.GetName()) {
		return e.stopped(ctx, work, stage, errors.New("piped ended while the stage ran; "+onceOnly))
	}
	if stage.GetRetriedCount() > 0 {
		e.reports.note(
			ctx,
			stage,
			beforePlugin,
			model.LogSeverity_INFO,
			fmt.Sprintf(
				"Attempt %d of stage %s by plugin %s", stage.GetRetriedCount()+1, stage.GetName(), plugin.Name(),
			),
		)
	}
	faults.give(plugin)
	if faults.Attempt != nil {
		e.reports.note(ctx, stage, injected, model.LogSeverity_ERROR, faults.String())
	}
	result := e.execute(ctx, work, stage, plugin, pair, faults)
	for result.unprepared != nil { // each time another process of the plugin
		result = e.executeAgain(ctx, work, stage, plugin, faults)
	}
	return explained(result, faults)
}

// executeAgain makes the call with the sources that the plugin inspects now.
func (e *executor) executeAgain(
	ctx, work context.Context, stage *model.PipelineStage, plugin *pluginhost.Plugin, faults *injection,
) stageResult {
	pair, err := e.sources.take(ctx, work, e.options.Plugins.StageSources(stage.GetName()))
	if err != nil {
		return e.stopped(ctx, work, stage, fmt.Errorf("prepare the sources: %w", err))
	}
	defer pair.close()
	return e.execute(ctx, work, stage, plugin, pair, faults)
}

// prefetch prepares the sources of the next stage while this one runs, if there is a next one.
func (e *executor) prefetch(ctx context.Context) {
	if next := e.progress.nextStage(); next != "" {
		e.sources.prefetch(ctx, e.options.Plugins.StageSources(next))
	}
}

// owner finds the plugin of a stage and waits, not for ever, until it runs.
func (e *executor) owner(ctx context.Context, stage *model.PipelineStage) (*pluginhost.Plugin, error) {
	plugin, err := e.options.Plugins.Owner(ctx, stage.GetName())
	if err != nil {
		return nil, err
	}
	ctx, cancel := clock.WithHeldTimeout(ctx, e.options.Clock, e.options.RestartWait, plugin.HeldTime,
		context.DeadlineExceeded)
	defer cancel()
	return plugin, plugin.WaitRunning(ctx)
}

// execute makes the call. Its context ends with work or at the stage's own timeout, which counts from the
// start of the first attempt.
func (e *executor) execute(
	ctx, work context.Context, stage *model.PipelineStage, plugin *pluginhost.Plugin, pair *sourcePair,
	faults *injection,
) stageResult {
	options, timeout := e.stageOptions(stage, pair.target.Application())
	// Not a deadline: gRPC would send it to the plugin, which may then end the call before the time is up here
	// (PipeCD v1 sends plugins no timeout either).
	left := e.progress.timesOf(stage).left(timeout, e.options.LastChance, e.options.Clock.Now()) +
		e.progress.heldBefore(stage)
	call, cancel := clock.WithHeldTimeout(work, e.options.Clock, left, plugin.HeldTime,
		&TimeoutError{What: "the stage", After: timeout})
	defer cancel()
	end := e.options.Stages.BeginStage(e.progress.id(), stage.GetId(), stage.GetRetriedCount())
	defer end()

	d := e.progress.snapshot(e.options.Metadata)
	if err := e.options.Failpoints.Hit(call, "stage-call"); err != nil {
		return e.stopped(ctx, call, stage, err)
	}
	defer e.progress.noteHeld(stage, plugin)()
	taken := pluginhost.NewTaken()
	taken.Taking = func(build *agentv1.PluginBuild) { e.noteBuild(ctx, stage, plugin.Name(), build) }
	if err := e.inject(call, stage, faults, taken); err != nil {
		return e.stopped(ctx, call, stage, err)
	}
	sent, hangUp := e.announceStop(ctx, call, stage, taken)
	defer hangUp()
	request := &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment:              d,
		Stage:                   find(d, stage.GetId()),
		StageConfig:             options,
		RunningDeploymentSource: pair.runningProto(),
		TargetDeploymentSource:  pair.target.Proto(),
	}}
	place := beforeCall
	noted := pluginhost.Noted(func(text string) {
		e.reports.note(ctx, stage, place, model.LogSeverity_INFO, text)
		place = max(place+1, afterFirst)
	})
	prepared := pluginhost.Prepared(stage.GetName(), pair.use)
	var trailer metadata.MD
	response, err := plugin.Deployment().ExecuteStage(faults.given.Context(sent), request, prepared,
		pluginhost.TakenBy(taken), noted, grpc.Trailer(&trailer))
	faults.settle(err, trailer)
	if err != nil && call.Err() != nil && ctx.Err() == nil {
		e.awaitCleanup(ctx, stage, taken)
	}
	if point := e.options.Failpoints.Hit(call, "stage-answer"); point != nil {
		return e.stopped(ctx, call, stage, point)
	}
	if result, brokenOff := brokenOff(err); brokenOff && call.Err() == nil {
		return result
	}
	if err != nil {
		return e.stopped(ctx, call, stage, err)
	}
	if replaced, ok := faults.Answer(); ok {
		response.Status, response.Message = replaced, ""
	}
	return e.answered(ctx, call, stage, plugin.Name(), response)
}

// brokenOff recognises a call that another process of the plugin may answer.
func brokenOff(err error) (stageResult, bool) {
	var exit *pluginhost.ExitError
	var down *pluginhost.NotRunningError
	var changed *pluginhost.SourcesChangedError
	switch {
	case errors.As(err, &changed):
		return stageResult{unprepared: err}, true
	case errors.As(err, &exit), errors.As(err, &down):
		return stageResult{interrupted: err, begun: exit != nil || down.Begun}, true
	}
	return stageResult{}, false
}

// answered takes the answer of the plugin.
func (e *executor) answered(
	ctx, call context.Context, stage *model.PipelineStage, plugin string, response *deployment.ExecuteStageResponse,
) stageResult {
	switch s := response.GetStatus(); s {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return stageResult{status: s, reason: response.GetMessage()}
	case model.StageStatus_STAGE_CANCELLED, model.StageStatus_STAGE_FAILURE:
		if call.Err() != nil {
			return e.stopped(ctx, call, stage, context.Cause(call))
		}
		return stageResult{status: s, reason: response.GetMessage()}
	default:
		return failure(fmt.Sprintf("plugin %s answered with the status %s, which is none of a stage's end", plugin, s))
	}
}

// stopped explains an attempt that ended without an answer of the plugin. Call is the context that the
// attempt ran in.
func (e *executor) stopped(ctx, call context.Context, stage *model.PipelineStage, err error) stageResult {
	var cancelled *CancelledError
	var timeout *TimeoutError
	var halted *haltedError
	cause := context.Cause(call)
	switch {
	case ctx.Err() != nil:
		return stageResult{status: model.StageStatus_STAGE_CANCELLED, reason: "piped is stopping"}
	case errors.As(cause, &cancelled):
		return stageResult{status: model.StageStatus_STAGE_CANCELLED, reason: cancelled.Error()}
	case errors.As(cause, &timeout):
		return failure(timeout.Error())
	case errors.As(cause, &halted):
		return stageResult{status: model.StageStatus_STAGE_CANCELLED, reason: halted.Error()}
	}
	reason := err.Error()
	if s, ok := status.FromError(err); ok {
		reason = s.Message()
	}
	e.reports.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, reason)
	return failure(reason)
}

func find(d *model.Deployment, stageID string) *model.PipelineStage {
	for _, stage := range d.GetStages() {
		if stage.GetId() == stageID {
			return stage
		}
	}
	return nil
}
