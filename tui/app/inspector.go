// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// inspectorPane shows all that is known of one stage. It stays on this stage, also when the stage ends.
type inspectorPane struct {
	host    *host
	chosen  *selection
	command func(args []string) string
	// deployment and stage are the ids of what is shown.
	deployment, stage string
	// top is the first line shown; page is how many lines were shown last, and lines how many there are.
	top, page, lines int
	look             *find

	link *link
	// run is what the deck API says about the stage, and trouble why it does not; asked is the stage for which it was
	// asked, nil for none, and pending says that the answer has not come.
	run     *deckv1.GetStageRunResponse
	trouble string
	asked   *deckv1.Stage
	pending bool
}

// stageRunMsg is an answer about a stage.
type stageRunMsg struct {
	asked *deckv1.Stage
	run   *deckv1.GetStageRunResponse
	err   error
}

func newInspectorPane(h *host, l *link, chosen *selection, command func([]string) string) *inspectorPane {
	p := &inspectorPane{host: h, link: l, chosen: chosen, command: command, look: newFind(h.theme, "/")}
	p.look.changed = func() { p.top = 0 }
	return p
}

func (p *inspectorPane) finding() *find { return p.look }

// enter shows the selected stage from its first line.
func (p *inspectorPane) enter() {
	p.deployment, p.stage, p.top = p.chosen.deployment().GetId(), p.chosen.stage().GetId(), 0
	p.run, p.trouble, p.asked = nil, "", nil
}

// settle asks for what the stage was executed with, again when the stage has changed.
func (p *inspectorPane) settle(shown bool) tea.Cmd {
	d := p.chosen.deck.Deployment(p.deployment)
	at := slices.IndexFunc(d.GetStages(), p.shows)
	if !shown || p.pending || p.link.client == nil || at < 0 || d.GetStages()[at] == p.asked {
		return nil
	}
	stage := d.GetStages()[at]
	p.asked, p.pending = stage, true
	client, request := p.link.client, &deckv1.GetStageRunRequest{DeploymentId: p.deployment, StageId: stage.GetId()}
	return p.host.work.do(func(ctx context.Context) tea.Msg {
		run, err := client.GetStageRun(ctx, request)
		text.CleanMessage(run)
		return stageRunMsg{asked: stage, run: run, err: err}
	})
}

// take takes an answer, and asks again after a new connection.
func (p *inspectorPane) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case connectedMsg:
		p.asked, p.pending = nil, false
	case stageRunMsg:
		p.pending = false
		if msg.asked.GetId() != p.stage {
			p.asked = nil
			return
		}
		p.run, p.trouble = msg.run, ""
		if msg.err != nil && status.Code(msg.err) != codes.Unimplemented {
			p.trouble = plain(msg.err)
		}
	}
}

// open selects the stage, so that its log is shown.
func (p *inspectorPane) open() {
	if d := p.chosen.deck.Deployment(p.deployment); d != nil {
		p.chosen.pinDeployment(d)
		p.chosen.settle()
		p.chosen.pinStage(p.stage)
	}
}

func (p *inspectorPane) move(action keymap.Action) {
	n := steps(action)
	if action == keymap.PageUp || action == keymap.PageDown {
		n = n / 10 * max(1, p.page-1)
	}
	p.top = max(0, min(p.top+n, p.lines-p.page))
}

func (p *inspectorPane) draw(width, height int, _ bool) string {
	deck := p.chosen.deck
	d := deck.Deployment(p.deployment)
	v := view.Inspector{Theme: p.host.theme, Deployment: d, Now: p.host.known, Top: p.top, Run: p.run,
		Trouble: p.trouble,
		Earlier: deck.Deployments(d.GetApplicationId()), Breaks: deck.Environment().GetBreakpoints()}
	if at := slices.IndexFunc(d.GetStages(), p.shows); at >= 0 {
		v.Stage = d.GetStages()[at]
		v.Plugin = deck.PluginOf(d, v.Stage)
		v.Faults = state.Faults(deck, p.chosen.application(), v.Stage)
		v.PluginName = deck.PluginName(v.Plugin)
		v.History = deck.PluginHistory(state.PluginKey(v.Plugin))
		v.Command = p.command([]string{"logs", d.GetApplicationName(), "--stage",
			state.StageArgument(d.GetStages(), v.Stage)})
	}
	if p.look.query != "" {
		v.Match = func(line string) bool { return p.look.matches(line) }
	}
	room := height
	if p.look.shown() {
		room--
	}
	p.page, p.lines = v.Fit(width, room)
	return drawFound(p.look, fmt.Sprintf("%d lines", p.lines), width, height, v.Draw)
}

func (p *inspectorPane) shows(stage *deckv1.Stage) bool { return stage.GetId() == p.stage }
