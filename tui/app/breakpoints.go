// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// breaks are the actions on breakpoints.
type breaks struct{ *actions }

// ask asks about the selected stage: whether to skip it, or about its breakpoints.
func (a breaks) ask(action keymap.Action) tea.Cmd {
	if action == keymap.Skip {
		return a.askSkip()
	}
	a.askBreak()
	return nil
}

// askBreak opens the choice of how a paused stage goes on, or of where to pause at a stage that is not paused.
func (a breaks) askBreak() {
	stage := a.chosen.stage()
	d := &dialog{
		host: a.host, overlays: a.overlays, scope: keymap.ChoiceDialog,
		title: "Pause at " + text.Line(state.StageWord(stage)) + "?",
		lines: []string{"A deployment that comes there waits for you, and no clock of it runs.",
			"As a command: " + a.same(keymap.Break)},
	}
	if state.Paused(stage) {
		d.title = text.Line(state.PauseText(stage))
		shell := a.command(withNames("shell", a.link.deck.ApplicationArgument(a.chosen.application()),
			a.stageThat(state.Paused)))
		d.lines = []string{commitLine(a.chosen.deployment()), "As a command: " + a.same(keymap.Break) +
			"; with other options: --with FILE; a shell: " + shell}
		d.choices = a.goOns(stage)
	}
	a.addBreaks(d, stage)
	d.choices = append(d.choices, choice{keymap.No, "", "no", a.overlays.pop})
	d.selected = len(d.choices) - 1
	a.overlays.push(d)
}

// goOns are the choices for a paused stage.
func (a breaks) goOns(stage *deckv1.Stage) (choices []choice) {
	deployment := a.chosen.deployment()
	add := func(words string, do func() tea.Cmd) {
		key := fmt.Sprint(len(choices) + 1)
		choices = append(choices, choice{keymap.Pick, key, words, func() tea.Cmd {
			a.overlays.pop()
			return a.start(do())
		}})
	}
	before := stage.GetPause().GetWhen() == deckv1.Breakpoint_WHEN_BEFORE
	on := map[bool]string{true: "run it", false: "end it: " + stage.GetPause().GetResult()}[before]
	add(on, func() tea.Cmd { return a.goOn(deployment, stage, deckv1.ContinueStageRequest_HOW_CONTINUE) })
	if !before {
		add("run it again", func() tea.Cmd { return a.goOn(deployment, stage, deckv1.ContinueStageRequest_HOW_AGAIN) })
	}
	add("skip it", func() tea.Cmd { return a.goOn(deployment, stage, deckv1.ContinueStageRequest_HOW_SKIP) })
	add("cancel the deployment", func() tea.Cmd {
		return a.cancel(deployment.GetId(), deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED)
	})
	return choices
}

// addBreaks adds the choices to set and clear the breakpoints of a stage.
func (a breaks) addBreaks(d *dialog, stage *deckv1.Stage) {
	application := a.chosen.deployment().GetApplicationName()
	set := state.BreaksAt(a.link.deck.Environment().GetBreakpoints(), application, stage)
	for _, one := range []struct {
		when  deckv1.Breakpoint_When
		words string
	}{
		{deckv1.Breakpoint_WHEN_BEFORE, "before it"}, {deckv1.Breakpoint_WHEN_AFTER, "after it"},
		{deckv1.Breakpoint_WHEN_FAILURE, "when it fails"},
	} {
		request, words := &deckv1.ChangeBreakpointsRequest{}, "pause "+one.words
		for _, b := range set {
			if b.GetWhen() == one.when {
				request.Clear = append(request.Clear, proto.CloneOf(b))
				words = "no pause " + one.words + " any more"
			}
		}
		if len(request.GetClear()) == 0 {
			request.Set = []*deckv1.Breakpoint{{
				When: one.when, Application: application, Stage: state.StageWord(stage),
			}}
		}
		key := fmt.Sprint(len(d.choices) + 1)
		d.choices = append(d.choices, choice{keymap.Pick, key, words, func() tea.Cmd {
			a.overlays.pop()
			return a.start(a.changeBreaks(request))
		}})
	}
}

// goOn says how a paused stage goes on.
func (a breaks) goOn(d *deckv1.Deployment, stage *deckv1.Stage, how deckv1.ContinueStageRequest_How) tea.Cmd {
	request := &deckv1.ContinueStageRequest{
		DeploymentId: d.GetId(), StageId: stage.GetId(), How: how, Commander: a.host.cfg.Commander,
	}
	name := text.Line(state.StageWord(stage))
	return a.call("asked to go on with "+name, "go on with "+name,
		func(ctx context.Context, client deckv1.DeckServiceClient) error {
			_, err := client.ContinueStage(ctx, request)
			return err
		})
}

func (a breaks) changeBreaks(request *deckv1.ChangeBreakpointsRequest) tea.Cmd {
	done, all := "cleared the breakpoint", request.GetClear()
	if len(request.GetSet()) > 0 {
		done, all = "set the breakpoint", request.GetSet()
	}
	for _, b := range all {
		done += " " + text.Line(state.BreakText(b))
	}
	return a.call(done, "change the breakpoint", func(ctx context.Context, client deckv1.DeckServiceClient) error {
		_, err := client.ChangeBreakpoints(ctx, request)
		return err
	})
}

// breakCommand is what sets a breakpoint on the selected stage, or goes on after one.
func (a breaks) breakCommand(app string) []string {
	stage := a.chosen.stage()
	if state.Paused(stage) {
		return withNames("continue", app, a.stageThat(state.Paused))
	}
	return withNames("break", app, state.StageWord(stage))
}
