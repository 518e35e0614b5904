// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// pauseBefore keeps a stage that is about to begin, if there is a breakpoint, or an earlier piped has left it paused
// there. It returns the end of the stage where the user does not run it.
func (e *executor) pauseBefore(
	ctx, work context.Context, stage *model.PipelineStage, pair *sourcePair, left pauseNote,
) (d decision, end *stageResult) {
	fresh := stage.GetStatus() == model.StageStatus_STAGE_NOT_STARTED_YET
	if !left.pausedBefore() && !(fresh && e.pauses.stops(stage, agentv1.Breakpoint_WHEN_BEFORE)) {
		return decision{}, nil
	}
	note := pauseNote{When: breakpoint.Before, Since: left.Since, Held: left.Held}
	if left.Edited {
		note.Edited = true // until the user has answered, however often piped ends meanwhile
		note.Reason = "piped ended while the stage ran with edited options; give them again"
	}
	d, err := e.holdAt(ctx, work, stage, pair, note)
	switch {
	case err != nil:
		result := e.stopped(ctx, work, stage, err)
		result.untouched = fresh && result.status == model.StageStatus_STAGE_CANCELLED
		return d, &result
	case d.how == pluginservice.DecisionSkip:
		return d, &stageResult{status: model.StageStatus_STAGE_SKIPPED, reason: "Skipped at a breakpoint by " + d.by}
	}
	e.progress.edit(stage, d.options)
	return d, nil
}

// pauseAfter keeps a stage whose attempt has ended, if there is a breakpoint or an earlier piped has left it paused
// there. It returns how the stage ends; with again it does not. pair may be nil.
func (e *executor) pauseAfter(
	ctx, work context.Context, stage *model.PipelineStage, pair *sourcePair, result stageResult, left pauseNote,
) (_ stageResult, again bool) {
	result.offered = true
	var when agentv1.Breakpoint_When
	switch result.status {
	case model.StageStatus_STAGE_FAILURE:
		when = agentv1.Breakpoint_WHEN_FAILURE
	case model.StageStatus_STAGE_SUCCESS, model.StageStatus_STAGE_SKIPPED, model.StageStatus_STAGE_EXITED:
		when = agentv1.Breakpoint_WHEN_AFTER
	}
	_, paused := left.result()
	if result.interrupted != nil || work.Err() != nil || when == agentv1.Breakpoint_WHEN_UNSPECIFIED ||
		!paused && !e.pauses.stops(stage, when) {
		return result, false
	}
	note := pauseNote{
		When: words[when], Since: left.Since, Held: left.Held, Status: endWord(result.status), Reason: result.reason,
		Edited: left.Edited || e.progress.editedOptions(stage) != nil,
	}
	d, err := e.holdAt(ctx, work, stage, pair, note)
	switch {
	case ctx.Err() != nil:
		return stageResult{status: model.StageStatus_STAGE_CANCELLED, reason: "piped is stopping"}, false
	case err != nil:
		return result, false
	case d.how == pluginservice.DecisionSkip:
		result.status, result.reason = model.StageStatus_STAGE_SKIPPED, "Skipped at a breakpoint by "+d.by
		return result, false
	case d.how == pluginservice.DecisionAgain:
		e.progress.again(stage, d.options)
		e.noteDecision(ctx, stage, d, "Run again from a breakpoint by "+d.by)
		return result, true
	}
	return result, false
}

// holdAt keeps a stage with the directory that its plugin gets; one that gets none has a directory for the pause.
func (e *executor) holdAt(
	ctx, work context.Context, stage *model.PipelineStage, pair *sourcePair, note pauseNote,
) (decision, error) {
	if pair == nil || pair.target.ApplicationDirectory == "" {
		if own, err := e.sources.take(ctx, work, deployment.SourceUse_SOURCE_USE_TARGET); err == nil {
			defer own.close()
			pair = own
		}
	}
	note.Attempt = stage.GetRetriedCount() + 1
	if pair != nil {
		target, options := pair.target, []byte(nil)
		options, _ = e.stageOptions(stage, target.Application())
		note.Options = readable(options)
		note.Directory, note.RepositoryDirectory = target.ApplicationDirectory, target.RepositoryDirectory
		if pair.running != nil {
			note.RunningDirectory = pair.running.ApplicationDirectory
		}
	}
	return e.pauses.hold(ctx, work, stage, note)
}

// maxShownOptions bounds edited options in the log of a stage, in bytes.
const maxShownOptions = 4 << 10

// noteDecision writes into the log of a stage that begins how a user went on.
func (e *executor) noteDecision(ctx context.Context, stage *model.PipelineStage, d decision, text string) {
	e.reports.note(ctx, stage, pausedAt, model.LogSeverity_INFO, text)
	if d.options != nil {
		e.reports.note(ctx, stage, editedAt, model.LogSeverity_INFO,
			"options edited at a breakpoint by "+d.by+": "+clip.Bytes(readable(d.options), maxShownOptions))
	}
}

// beginPaused writes into the log how long the stage was paused before it.
func (e *executor) beginPaused(ctx context.Context, stage *model.PipelineStage, d decision) {
	if d.how != "" {
		e.noteDecision(ctx, stage, d,
			fmt.Sprintf("Paused before the stage for %s; %s went on", d.paused.Round(time.Second), d.by))
	}
}

// readable is JSON in one line with < and > as they are, as people write them.
func readable(options []byte) string {
	var value any
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if json.Unmarshal(options, &value) != nil || encoder.Encode(value) != nil {
		return string(options)
	}
	return strings.TrimSpace(b.String())
}
