// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// inspectorPane shows all that is known of one stage. It stays on this stage, also when the stage ends.
type inspectorPane struct {
	host    *host
	chosen  *selection
	plugins *pluginsPane
	command func(args []string) string
	// deployment and stage are the ids of what is shown.
	deployment, stage string
	// top is the first line shown; page is how many lines were shown last, and lines how many there are.
	top, page, lines int
	look             *find
}

func newInspectorPane(h *host, chosen *selection, plugins *pluginsPane, command func([]string) string) *inspectorPane {
	p := &inspectorPane{host: h, chosen: chosen, plugins: plugins, command: command, look: newFind(h.theme, "/")}
	p.look.changed = func() { p.top = 0 }
	return p
}

func (p *inspectorPane) finding() *find { return p.look }

// enter shows the selected stage from its first line.
func (p *inspectorPane) enter() {
	p.deployment, p.stage, p.top = p.chosen.deployment().GetId(), p.chosen.stage().GetId(), 0
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
	v := view.Inspector{Theme: p.host.theme, Deployment: d, Now: p.host.now, Top: p.top,
		Earlier: deck.Deployments(d.GetApplicationId())}
	if at := slices.IndexFunc(d.GetStages(), p.shows); at >= 0 {
		v.Stage = d.GetStages()[at]
		v.Plugin = p.plugin(d.GetApplicationId(), v.Stage)
		v.PluginName = deck.PluginName(v.Plugin)
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

// plugin is the one that runs the stage; nil when none has reported that it does.
func (p *inspectorPane) plugin(application string, stage *deckv1.Stage) *deckv1.Plugin {
	piped := p.chosen.deck.Application(application).GetPipedId()
	for _, plugin := range p.chosen.deck.Plugins() {
		if plugin.GetPipedId() == piped && slices.Contains(plugin.GetStages(), stage.GetName()) {
			return plugin
		}
	}
	return nil
}
