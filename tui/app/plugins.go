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

// pluginsPane is the list of plugins in the left column, and their table with the output of the selected one.
type pluginsPane struct {
	host *host
	deck *state.Deck
	// key is the state.PluginKey of the selected one; up is how many lines of its output the reader has gone back.
	key string
	up  int
	// wrap breaks long lines of the output.
	wrap bool
	look *find
}

func newPluginsPane(h *host, deck *state.Deck) *pluginsPane {
	p := &pluginsPane{host: h, deck: deck, wrap: true, look: newFind(h.theme, "/")}
	p.look.mark = func() func() { key := p.key; return func() { p.key = key } }
	p.look.changed = p.found
	return p
}

func (p *pluginsPane) finding() *find { return p.look }

// list is the plugins that match the filter.
func (p *pluginsPane) list() []*deckv1.Plugin {
	return ranked(p.look, p.deck.Plugins(), func(plugin *deckv1.Plugin) []string {
		return view.PluginWords(plugin, p.deck.PluginName(plugin))
	})
}

// found selects the first match when the selected plugin is none.
func (p *pluginsPane) found() {
	list := p.list()
	if len(list) > 0 && !slices.ContainsFunc(list, p.selected) {
		p.key, p.up = state.PluginKey(list[0]), 0
	}
}

func (p *pluginsPane) selected(plugin *deckv1.Plugin) bool { return state.PluginKey(plugin) == p.key }

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
		if plugins := p.list(); len(plugins) > 0 {
			p.key, p.up = state.PluginKey(plugins[moved(index(plugins, p.selected), steps(action), len(plugins))]), 0
		}
	}
}

// drawList draws the list of the left column.
func (p *pluginsPane) drawList(width, height int, focused bool) string {
	plugins := p.deck.Plugins() // all of them: the line of the filter stands below the table
	return view.Plugins{Theme: p.host.theme, List: plugins, Name: p.deck.PluginName,
		Selected: index(plugins, p.selected), Focused: focused}.Draw(width, height)
}

func (p *pluginsPane) draw(width, height int, _ bool) string {
	plugins, all := p.list(), len(p.deck.Plugins())
	v := view.PluginTable{
		Theme: p.host.theme, List: plugins, Name: p.deck.PluginName, Selected: index(plugins, p.selected),
		Now: p.host.known, Busy: p.busy(plugins), Wrap: p.wrap, Up: p.up, None: noMatch(p.look, all, "plugins"),
	}
	return drawFound(p.look, fmt.Sprintf("%d of %d", len(plugins), all), width, height, v.Draw)
}

// busy are the running stages of each plugin, by state.PluginKey.
func (p *pluginsPane) busy(plugins []*deckv1.Plugin) map[string][]string {
	busy := map[string][]string{}
	for _, app := range p.deck.Applications() {
		for _, stage := range p.deck.Present(app.GetId()).GetStages() {
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
