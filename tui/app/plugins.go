// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// pluginsPane is the list of plugins in the left column, and their table with the output of the selected one.
type pluginsPane struct {
	host *host
	deck *state.Deck
	// key is the state.PluginKey of the selected one; up is how many lines of its output the reader has gone back.
	key string
	up  int
	// wrap breaks long lines of the output.
	wrap bool
}

func (p *pluginsPane) plugin() *deckv1.Plugin { return p.deck.Plugin(p.key) }

// settle selects the first plugin where the selected one is gone.
func (p *pluginsPane) settle() {
	if plugins := p.deck.Plugins(); p.plugin() == nil && len(plugins) > 0 {
		p.key = state.PluginKey(plugins[0])
	}
}

func (p *pluginsPane) move(action keymap.Action) {
	switch action {
	case keymap.PageUp, keymap.PageDown:
		p.up = max(0, min(len(p.plugin().GetLastOutput()), p.up-steps(action)))
	default:
		if plugins := p.deck.Plugins(); len(plugins) > 0 {
			p.key, p.up = state.PluginKey(plugins[moved(p.at(plugins), steps(action), len(plugins))]), 0
		}
	}
}

func (p *pluginsPane) at(plugins []*deckv1.Plugin) int {
	return index(plugins, func(plugin *deckv1.Plugin) bool { return state.PluginKey(plugin) == p.key })
}

// drawList draws the list of the left column.
func (p *pluginsPane) drawList(width, height int, focused bool) string {
	plugins := p.deck.Plugins()
	return view.Plugins{Theme: p.host.theme, List: plugins, Name: p.deck.PluginName, Selected: p.at(plugins),
		Focused: focused}.Draw(width, height)
}

func (p *pluginsPane) draw(width, height int, _ bool) string {
	plugins := p.deck.Plugins()
	return view.PluginTable{
		Theme: p.host.theme, List: plugins, Name: p.deck.PluginName, Selected: p.at(plugins), Now: p.host.now,
		Busy: p.busy(plugins), Wrap: p.wrap, Up: p.up,
	}.Draw(width, height)
}

// busy are the running stages of each plugin, by state.PluginKey.
func (p *pluginsPane) busy(plugins []*deckv1.Plugin) map[string][]string {
	busy := map[string][]string{}
	for _, app := range p.deck.Applications() {
		for _, stage := range p.deck.Newest(app.GetId()).GetStages() {
			if stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING {
				continue
			}
			for _, plugin := range plugins {
				if app.GetPipedId() == plugin.GetPipedId() && slices.Contains(plugin.GetStages(), stage.GetName()) {
					key := state.PluginKey(plugin)
					busy[key] = append(busy[key], stage.GetName()+" of "+app.GetName())
				}
			}
		}
	}
	return busy
}
