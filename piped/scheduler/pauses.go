// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/clip"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// pauses holds the stages of one deployment at breakpoints until a user goes on.
type pauses struct {
	options      *Options
	progress     *progress
	reports      *reports
	cancellation *Cancellation

	mu sync.Mutex
	// open is how many stages are paused, since when at least one is, and held how long that was before.
	open  int
	since time.Time
	held  time.Duration
	// over is how long the pauses of each stage were that this piped has ended, by its id, in milliseconds, with those
	// before.
	over map[string]int64
}

// decision is how a user goes on after a pause.
type decision struct {
	how pluginservice.Decision
	// by is who, for the log.
	by string
	// options replace those in Git; nil for those in Git.
	options []byte
	// paused is how long the stage was.
	paused time.Duration
}

// heldTime is how long at least one stage was paused so far, which the time of the deployment stands still for.
func (p *pauses) heldTime() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open > 0 {
		return p.held + p.options.Clock.Now().Sub(p.since)
	}
	return p.held
}

// begin has the time stand still until end. A newer commit does not end a deployment meanwhile.
func (p *pauses) begin() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open++; p.open == 1 {
		p.since = p.options.Clock.Now()
	}
	p.cancellation.pause(1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open--; p.open == 0 {
			p.held += p.options.Clock.Now().Sub(p.since)
		}
		p.cancellation.pause(-1)
	}
}

// stops reports whether there is a breakpoint at a stage.
func (p *pauses) stops(stage *model.PipelineStage, when agentv1.Breakpoint_When) bool {
	return p.options.Pauses.Breakpoints.Stops(when, p.progress.deployment.GetApplicationName(), stage.GetName(),
		word(stage))
}

// hold keeps a stage until a user goes on, and returns how. It ends early with the cause of work, when the deployment
// is cancelled or piped stops. What the control plane has of the pause stays until the stage has ended or begins.
func (p *pauses) hold(ctx, work context.Context, stage *model.PipelineStage, note pauseNote) (decision, error) {
	defer p.begin()()
	p.mu.Lock()
	note.Held = max(note.Held, p.over[stage.GetId()])
	p.mu.Unlock()
	if note.Since == 0 {
		note.Since = p.options.Clock.Now().UnixMilli()
	}
	p.reports.of(stage).Info("stage paused at a breakpoint", "when", note.When, "directory", note.Directory)
	if err := p.save(work, stage, note); err != nil {
		return decision{}, err
	}
	for {
		command, err := p.options.Commands.AwaitDecision(work, p.progress.id(), stage.GetId())
		if err != nil {
			if ctx.Err() == nil { // the deployment was ended: nothing waits for a user any more
				_ = p.clear(ctx, stage, note, false)
			}
			return decision{}, err
		}
		d, why := p.read(work, stage, command, note)
		if why != "" {
			p.answer(ctx, command, model.CommandStatus_COMMAND_FAILED, why)
			continue
		}
		d.paused = p.options.Clock.Now().Sub(time.UnixMilli(note.Since))
		p.reports.of(stage).Info("a user goes on after a breakpoint", "how", d.how, "user", d.by)
		begins := note.When == breakpoint.Before && d.how != pluginservice.DecisionSkip
		if d.how == pluginservice.DecisionAgain {
			p.progress.beginRun(stage, stage.GetRetriedCount()+1)
		}
		if begins || d.how == pluginservice.DecisionAgain {
			edited := d.options != nil || p.progress.editedOptions(stage) != nil
			if err := p.clear(work, stage, note, edited); err != nil {
				return decision{}, err
			}
		}
		p.answer(ctx, command, model.CommandStatus_COMMAND_SUCCEEDED, "")
		return d, nil
	}
}

func (p *pauses) answer(ctx context.Context, command *model.Command, status model.CommandStatus, why string) {
	handled(ctx, p.reports.controlPlane, p.reports.logger, command, status, why)
}

// read reads a command, and says why it cannot be carried out.
func (p *pauses) read(
	ctx context.Context, stage *model.PipelineStage, command *model.Command, note pauseNote,
) (d decision, why string) {
	how, options := pluginservice.DecisionOf(command)
	d = decision{how: how, by: command.GetCommander()}
	switch {
	case how == pluginservice.DecisionAgain && note.When == breakpoint.Before:
		return d, "the stage has not run yet"
	case how != pluginservice.DecisionContinue && how != pluginservice.DecisionAgain &&
		how != pluginservice.DecisionSkip:
		return d, fmt.Sprintf("this piped does not know %q: use a newer one", how)
	case options == "" && p.forgotten(stage, note) && how == pluginservice.DecisionAgain:
		return d, forgottenOptions + "pipedeck continue --again --with FILE"
	case options == "" && p.forgotten(stage, note) && how == pluginservice.DecisionContinue &&
		note.When == breakpoint.Before:
		return d, forgottenOptions + "pipedeck continue --with FILE"
	case options == "":
		return d, ""
	case how == pluginservice.DecisionSkip, how == pluginservice.DecisionContinue && note.When != breakpoint.Before:
		return d, "options have no effect there: give them before a stage, or run it again with them"
	case p.progress.deployment.GetTrigger().GetSyncStrategy() != model.SyncStrategy_PIPELINE:
		return d, "a quick sync has no options"
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(options), &object); err != nil || object == nil {
		return d, "the options are not a JSON object"
	}
	if p.options.Pauses.Check != nil {
		_, _ = p.options.Plugins.Owner(ctx, stage.GetName()) // whose schema is known once it has started
		if err := p.options.Pauses.Check(stage.GetName(), []byte(options)); err != nil {
			return d, fmt.Sprintf("the options are wrong: %v", err)
		}
	}
	d.options = []byte(options)
	return d, ""
}

// forgottenOptions is why a stage does not run again with the options in Git unless a user says so.
const forgottenOptions = "it ran with edited options before piped ended, and would run with those in Git now; give " +
	"the options that it should have, edited or as in Git: "

// forgotten reports whether the stage ran with edited options under an earlier piped, which this one does not have.
func (p *pauses) forgotten(stage *model.PipelineStage, note pauseNote) bool {
	return note.Edited && p.progress.editedOptions(stage) == nil
}

// clear notes that a stage is not paused any more.
func (p *pauses) clear(patience context.Context, stage *model.PipelineStage, note pauseNote, edited bool) error {
	held := note.heldBy(stage, p.options.Clock.Now()).Milliseconds()
	p.mu.Lock()
	if p.over == nil {
		p.over = map[string]int64{}
	}
	p.over[stage.GetId()] = held
	p.mu.Unlock()
	return p.save(patience, stage, pauseNote{Held: held, Edited: edited})
}

// save keeps a note at the control plane, until patience ends or the control plane refuses it.
func (p *pauses) save(patience context.Context, stage *model.PipelineStage, note pauseNote) error {
	note.Reason, note.Run = clip.Bytes(note.Reason, maxPauseReason), p.progress.runOf(stage)
	if len(note.Options) > maxPauseOptions {
		note.Options = ""
	}
	text, err := json.Marshal(note)
	if err != nil {
		return fmt.Errorf("keep the pause of stage %s: %w", word(stage), err)
	}
	request := &pipedservice.SaveStageMetadataRequest{
		DeploymentId: p.progress.id(), StageId: stage.GetId(),
		Metadata: map[string]string{PauseMetadataKey: string(text)},
	}
	err = p.reports.persist(patience, p.reports.of(stage), func(ctx context.Context) error {
		_, err := p.reports.controlPlane.SaveStageMetadata(ctx, request)
		return err
	})
	if err != nil && patience.Err() == nil {
		return fmt.Errorf("record the pause of the stage at the control plane: %w", err)
	}
	return err
}
