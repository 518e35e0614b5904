// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
)

// stageResult is how one attempt at a stage ended.
type stageResult struct {
	status model.StageStatus
	reason string
	// interrupted is set when the plugin died; the stage may be tried again.
	interrupted error
	// begun is set with it when the plugin may have begun with the stage.
	begun bool
	// unprepared is set when the stage was not called, for its plugin was replaced by one that looks into more.
	unprepared error
}

func failure(reason string) stageResult {
	return stageResult{status: model.StageStatus_STAGE_FAILURE, reason: reason}
}

// maxAttempts bounds the attempts at a stage that piped itself interrupts, because of another stage of the same process.
const maxAttempts = 10

// runStage brings one stage to its end and reports it. A stage whose plugin dies gets a second attempt; the end of a
// process that piped ended because of another stage does not count. It returns an error only when ctx ended: then the
// stage stays as reported last. Work ends earlier than ctx when the deployment is cancelled, out of time or has failed
// elsewhere.
func (r *run) runStage(ctx, work context.Context, stage *model.PipelineStage) error {
	takenUp := stage.GetStatus() == model.StageStatus_STAGE_RUNNING
	if takenUp {
		r.takeUp(stage) // an earlier piped died while it ran
	}
	result := r.tryStage(ctx, work, stage, takenUp)
	for attempts, deaths := 1, 0; result.interrupted != nil && ctx.Err() == nil && work.Err() == nil; attempts++ {
		if !abandoned(result.interrupted) {
			deaths++
		}
		if reason := r.whyNotAgain(ctx, stage, result, deaths, attempts); reason != "" {
			result = failure(reason)
			r.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, reason)
			break
		}
		r.logger(stage).Warn("stage interrupted", "error", result.interrupted)
		r.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, fmt.Sprintf("%s; the stage is run again once the plugin is back", result.interrupted))
		r.countAttempt(stage)
		result = r.tryStage(ctx, work, stage, false)
	}
	if result.interrupted != nil {
		result = r.stopped(ctx, work, stage, result.interrupted)
	}
	if ctx.Err() != nil && result.status == model.StageStatus_STAGE_CANCELLED {
		return context.Cause(ctx)
	}
	if result.status == model.StageStatus_STAGE_CANCELLED {
		r.saveRollbackChoice(ctx)
	}
	r.endStage(ctx, stage, result.status, result.reason)
	r.handleCommands(ctx, stage)
	r.logger(stage).Info("stage ended", "status", result.status, "reason", result.reason)
	return nil
}

// whyNotAgain is the reason not to run an interrupted stage again; empty when it is run.
func (r *run) whyNotAgain(ctx context.Context, stage *model.PipelineStage, result stageResult, deaths, attempts int) string {
	switch {
	case result.begun && !r.reentrant(ctx, stage):
		return fmt.Sprintf("%s; %s", result.interrupted, onceOnly)
	case deaths > 1:
		return fmt.Sprintf("%s (also in a second attempt)", result.interrupted)
	case attempts >= maxAttempts:
		return fmt.Sprintf("%s (in attempt %d)", result.interrupted, attempts)
	default:
		return ""
	}
}

// abandoned tells that piped itself ended the process of the plugin, because of another stage.
func abandoned(err error) bool {
	var exit *pluginhost.ExitError
	return errors.As(err, &exit) && exit.Abandoned
}

// onceOnly is why a stage is not executed again.
const onceOnly = "the stage is not run again, because its plugin says that it must be executed only once"

func (r *run) reentrant(ctx context.Context, stage *model.PipelineStage) bool {
	plugin, err := r.options.Plugins.Owner(ctx, stage.GetName())
	return err != nil || plugin.Reentrant(stage.GetName())
}

// takeUp goes on with a stage that an earlier piped has begun.
func (r *run) takeUp(stage *model.PipelineStage) {
	r.mu.Lock()
	r.clocks[stage.GetId()] = takenUp(stage, time.Now())
	r.mu.Unlock()
	r.countAttempt(stage)
}

func (r *run) countAttempt(stage *model.PipelineStage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stage.RetriedCount++
}

// tryStage is one attempt. An earlier piped has begun with a stage that is taken up.
func (r *run) tryStage(ctx, work context.Context, stage *model.PipelineStage, takenUp bool) stageResult {
	pair, err := r.sources.take(ctx, work, r.options.Plugins.StageSources(stage.GetName()))
	if err != nil {
		if began := r.beginStage(ctx, work, stage); began != nil {
			err = began
		}
		return r.stopped(ctx, work, stage, fmt.Errorf("prepare the sources: %w", err))
	}
	defer pair.close()
	if !stage.GetRollback() {
		if timeout := pair.target.Application().Timeout.Std(); timeout > 0 {
			r.limit(timeout)
		}
		if reason, skip := r.skips(work, stage, pair.target.Application()); skip {
			return stageResult{status: model.StageStatus_STAGE_SKIPPED, reason: reason}
		}
	}
	if err := r.beginStage(ctx, work, stage); err != nil {
		return r.stopped(ctx, work, stage, err)
	}
	r.prefetch(ctx)
	plugin, err := r.owner(work, stage)
	if err != nil {
		return r.stopped(ctx, work, stage, err)
	}
	if takenUp && !plugin.Reentrant(stage.GetName()) {
		return r.stopped(ctx, work, stage, errors.New("piped ended while the stage ran; "+onceOnly))
	}
	if stage.GetRetriedCount() > 0 {
		r.note(ctx, stage, beforePlugin, model.LogSeverity_INFO, fmt.Sprintf("Attempt %d of stage %s by plugin %s", stage.GetRetriedCount()+1, stage.GetName(), plugin.Name()))
	}
	result := r.execute(ctx, work, stage, plugin, pair)
	for result.unprepared != nil { // each time another process of the plugin
		result = r.executeAgain(ctx, work, stage, plugin)
	}
	return result
}

// executeAgain makes the call with the sources that the plugin looks into now.
func (r *run) executeAgain(ctx, work context.Context, stage *model.PipelineStage, plugin *pluginhost.Plugin) stageResult {
	pair, err := r.sources.take(ctx, work, r.options.Plugins.StageSources(stage.GetName()))
	if err != nil {
		return r.stopped(ctx, work, stage, fmt.Errorf("prepare the sources: %w", err))
	}
	defer pair.close()
	return r.execute(ctx, work, stage, plugin, pair)
}

// prefetch prepares the sources of the next stage while this one runs, if there is a next one.
func (r *run) prefetch(ctx context.Context) {
	r.mu.Lock()
	stages := r.deployment.GetStages()
	next := slices.IndexFunc(stages, func(stage *model.PipelineStage) bool {
		return !stage.GetRollback() && stage.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET
	})
	r.mu.Unlock()
	if next >= 0 {
		r.sources.prefetch(ctx, r.options.Plugins.StageSources(stages[next].GetName()))
	}
}

// owner finds the plugin of a stage and waits, not for ever, until it runs.
func (r *run) owner(ctx context.Context, stage *model.PipelineStage) (*pluginhost.Plugin, error) {
	plugin, err := r.options.Plugins.Owner(ctx, stage.GetName())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.RestartWait)
	defer cancel()
	return plugin, plugin.WaitRunning(ctx)
}

// execute makes the call. Its context ends with work or at the stage's own timeout, which counts from the
// start of the first attempt.
func (r *run) execute(ctx, work context.Context, stage *model.PipelineStage, plugin *pluginhost.Plugin, pair *sourcePair) stageResult {
	options, timeout := stageOptions(r.deployment, stage, pair.target.Application())
	// Not a deadline: gRPC would tell the plugin, which may then end the call before the time is up here
	// (PipeCD v1 tells plugins no timeout either).
	call, cancel := context.WithCancelCause(work)
	defer cancel(nil)
	timer := time.AfterFunc(r.clock(stage).left(timeout, r.options.LastChance, time.Now()), func() { cancel(&TimeoutError{What: "the stage", After: timeout}) })
	defer timer.Stop()
	end := r.options.Stages.BeginStage(r.deployment.GetId(), stage.GetId(), stage.GetRetriedCount())
	defer end()

	d := r.snapshot()
	if err := r.options.Failpoints.Hit(call, "stage-call"); err != nil {
		return r.stopped(ctx, call, stage, err)
	}
	taken := pluginhost.NewTaken()
	told, hangUp := r.tellWhy(ctx, call, stage, taken)
	defer hangUp()
	response, err := plugin.Deployment().ExecuteStage(told, &deployment.ExecuteStageRequest{Input: &deployment.ExecutePluginInput{
		Deployment:              d,
		Stage:                   find(d, stage.GetId()),
		StageConfig:             options,
		RunningDeploymentSource: pair.runningProto(),
		TargetDeploymentSource:  pair.target.Proto(),
	}}, pluginhost.Prepared(stage.GetName(), pair.use), pluginhost.TakenBy(taken), pluginhost.Noted(func(text string) {
		r.note(ctx, stage, beforeCall, model.LogSeverity_INFO, text)
	}))
	if err != nil && call.Err() != nil && ctx.Err() == nil {
		r.awaitCleanup(ctx, stage, taken)
	}
	if point := r.options.Failpoints.Hit(call, "stage-answer"); point != nil {
		return r.stopped(ctx, call, stage, point)
	}
	var exit *pluginhost.ExitError
	var down *pluginhost.NotRunningError
	var changed *pluginhost.SourcesChangedError
	switch {
	case call.Err() == nil && errors.As(err, &changed):
		return stageResult{unprepared: err}
	case call.Err() == nil && (errors.As(err, &exit) || errors.As(err, &down)):
		return stageResult{interrupted: err, begun: exit != nil || down.Begun}
	case err != nil:
		return r.stopped(ctx, call, stage, err)
	}
	switch s := response.GetStatus(); s {
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		return stageResult{status: s, reason: response.GetMessage()}
	case model.StageStatus_STAGE_CANCELLED:
		if call.Err() != nil {
			return r.stopped(ctx, call, stage, context.Cause(call))
		}
		return stageResult{status: s, reason: response.GetMessage()}
	case model.StageStatus_STAGE_FAILURE:
		if call.Err() != nil {
			return r.stopped(ctx, call, stage, context.Cause(call))
		}
		return failure(response.GetMessage())
	default:
		return failure(fmt.Sprintf("plugin %s answered with the status %s, which is none of a stage's end", plugin.Name(), s))
	}
}

// stopped explains an attempt that ended without an answer of the plugin. Call is the context that the
// attempt ran in.
func (r *run) stopped(ctx, call context.Context, stage *model.PipelineStage, err error) stageResult {
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
	r.note(ctx, stage, afterPlugin, model.LogSeverity_ERROR, reason)
	return failure(reason)
}

// stageOptions are the stage's part of the application configuration and its timeout. A quick sync has no
// options, and that is how plugins tell it from a pipeline (PipeCD v1).
func stageOptions(d *model.Deployment, stage *model.PipelineStage, application *config.Application) ([]byte, time.Duration) {
	if d.GetTrigger().GetSyncStrategy() != model.SyncStrategy_PIPELINE {
		return nil, config.DefaultTimeout.Std()
	}
	if application.Pipeline == nil || int(stage.GetIndex()) >= len(application.Pipeline.Stages) || stage.GetIndex() < 0 {
		return []byte("{}"), config.DefaultTimeout.Std()
	}
	configured := application.Pipeline.Stages[stage.GetIndex()]
	timeout := configured.Timeout.Std()
	if stage.GetRollback() || timeout <= 0 {
		timeout = config.DefaultTimeout.Std()
	}
	return planner.WithJSON(configured.With), timeout
}

// snapshot is the deployment as plugins see it: with the present statuses and metadata.
func (r *run) snapshot() *model.Deployment {
	r.mu.Lock()
	d := proto.CloneOf(r.deployment)
	r.mu.Unlock()
	all, stages := r.options.Metadata.Metadata(d.GetId())
	if all != nil {
		d.MetadataV2 = all
	}
	for _, stage := range d.GetStages() {
		if metadata, ok := stages[stage.GetId()]; ok {
			stage.Metadata = metadata
		}
	}
	return d
}

func find(d *model.Deployment, stageID string) *model.PipelineStage {
	for _, stage := range d.GetStages() {
		if stage.GetId() == stageID {
			return stage
		}
	}
	return nil
}
