// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// press takes a key.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	if key.Code == tea.KeySpace && key.Mod == 0 {
		name = "space"
	}
	switch {
	case name == "ctrl+c":
		m.ignoring = false
	case m.ignoring:
		if name == "esc" || name == "enter" {
			m.ignoring, m.help = false, false // the help covers the line that says what esc does
		}
		return nil
	case m.log.Typing != nil && m.dialog == nil:
		return m.typeKey(key)
	}
	if m.tooSmall() {
		if name == "q" || name == "ctrl+c" {
			return m.leave(LeaveRunning)
		}
		return nil
	}
	binding, known := m.keys.Find(m.scope(), name)
	switch {
	case !known && name == "/":
		m.ignoring = true // a user who types /search means none of the actions that its letters have here
		return nil
	case !known:
		return nil
	case m.dialog != nil:
		return m.answer(binding.Action, name)
	case m.help:
		m.help = false
		if binding.Action == keymap.Interrupt {
			m.askLeave()
		}
		return nil
	}
	if reason := m.reasons()[binding.Action]; reason != "" {
		return m.say("cannot "+binding.Help+": "+reason, true)
	}
	return m.act(binding.Action)
}

// scope is where keys hold just now.
func (m *model) scope() keymap.Scope {
	switch {
	case m.dialog != nil:
		return m.dialog.scope
	case m.help:
		return keymap.HelpOverlay
	case !m.main:
		return keymap.Startup
	}
	return m.focus
}

// act does what a key of the panes asks for.
func (m *model) act(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Quit, keymap.Interrupt:
		m.askLeave()
	case keymap.Help:
		m.help = true
	case keymap.Approve:
		return m.startApproval()
	case keymap.Skip:
		return m.skip()
	case keymap.Sync:
		return m.sync()
	case keymap.Cancel:
		m.askCancel()
	case keymap.Restart:
		return m.restart()
	case keymap.Reach:
		return m.reach()
	case keymap.StartAgain:
		return m.leave(StartAgain)
	case keymap.Search:
		m.startSearch()
	case keymap.NextMatch:
		if m.focus == keymap.Resources {
			return m.problem(1)
		}
		return m.searchNext(true)
	case keymap.PreviousMatch:
		if m.focus == keymap.Resources {
			return m.problem(-1)
		}
		return m.searchNext(false)
	case keymap.Follow:
		m.log.Follow()
	case keymap.Wrap:
		m.log.Wrap, m.log.Left = !m.log.Wrap, 0
	default:
		if !m.main {
			m.enterMain() // any other key leaves the start-up steps for the main screen
			return nil
		}
		m.navigate(action)
	}
	return nil
}

// navigate moves the focus or within a pane.
func (m *model) navigate(action keymap.Action) {
	switch action {
	case keymap.NextPane:
		m.turn(1)
	case keymap.PreviousPane:
		m.turn(-1)
	case keymap.ShowApplications:
		m.focus = keymap.Applications
	case keymap.ShowDeployment:
		m.focus = keymap.Deployment
	case keymap.ShowLog:
		m.focus = keymap.Log
	case keymap.ShowPlugins:
		m.focus = keymap.Plugins
	case keymap.ShowEnvironment:
		m.toggle(keymap.Environment)
	case keymap.ShowHistory:
		m.toggle(keymap.History)
		m.historyAt = index(m.deck.Deployments(m.app),
			func(d *deckv1.Deployment) bool { return d.GetId() == m.deployment().GetId() })
	case keymap.ShowResources:
		m.toggle(keymap.Resources)
	case keymap.Open:
		m.open()
	case keymap.Back:
		m.back()
	case keymap.Left:
		m.sideways(-1)
	case keymap.Right:
		m.sideways(1)
	default:
		m.move(action)
	}
}

// turn goes round the panes.
func (m *model) turn(n int) {
	panes := []keymap.Scope{keymap.Applications, keymap.Deployment, keymap.Log, keymap.Plugins}
	at := index(panes, func(s keymap.Scope) bool { return s == m.focus })
	m.focus = panes[(at+n+len(panes))%len(panes)]
}

func (m *model) toggle(scope keymap.Scope) {
	if m.focus == scope {
		m.focus = keymap.Deployment
		return
	}
	m.focus = scope
}

func (m *model) open() {
	switch m.focus {
	case keymap.Applications:
		m.focus = keymap.Deployment
	case keymap.Deployment:
		m.focus = keymap.Log
	case keymap.History:
		if list := m.deck.Deployments(m.app); len(list) > 0 {
			m.pinnedDeployment = list[min(m.historyAt, len(list)-1)].GetId()
			if m.pinnedDeployment == list[0].GetId() {
				m.pinnedDeployment = "" // the newest: stay with it when a newer one comes
			}
		}
		m.focus = keymap.Deployment
	}
}

func (m *model) back() {
	switch {
	case m.focus == keymap.Log && (m.log.Query != "" || m.log.Notice != ""):
		m.log.Query, m.log.Notice = "", ""
	case m.focus == keymap.Deployment:
		m.pinnedDeployment, m.stagePinned = "", false
		m.log.Query, m.log.Notice = "", ""
	default:
		m.focus = keymap.Deployment
	}
}

// slideStep is how many columns an unwrapped log moves at once.
const slideStep = 8

func (m *model) sideways(n int) {
	switch {
	case m.focus == keymap.Log && !m.log.Wrap:
		m.log.Slide(n * slideStep)
	case n < 0 && (m.focus == keymap.Deployment || m.focus == keymap.Log || m.focus == keymap.History ||
		m.focus == keymap.Resources):
		m.focus = keymap.Applications
	case n > 0 && m.focus == keymap.Applications:
		m.focus = keymap.Deployment
	}
}

// far is more than any list is long.
const far = 1 << 30

// move goes up and down in the pane with the focus.
func (m *model) move(action keymap.Action) {
	steps := map[keymap.Action]int{
		keymap.Up: -1, keymap.Down: 1, keymap.Top: -far, keymap.Bottom: far, keymap.PageUp: -10, keymap.PageDown: 10,
	}[action]
	switch m.focus {
	case keymap.Applications:
		apps := m.deck.Applications()
		at := index(apps, func(a *deckv1.Application) bool { return a.GetId() == m.app })
		if len(apps) > 0 {
			m.app, m.appPinned, m.pinnedDeployment = apps[moved(at, steps, len(apps))].GetId(), true, ""
		}
	case keymap.Deployment:
		if action == keymap.PageUp || action == keymap.PageDown {
			m.scrollLog(action) // the stages fit; the log below is what is long
			return
		}
		stages := view.StageOrder(m.deployment())
		at := index(stages, func(s *deckv1.Stage) bool { return s.GetId() == m.stageID })
		if len(stages) > 0 {
			m.stageID, m.stagePinned = stages[moved(at, steps, len(stages))].GetId(), true
		}
	case keymap.Log:
		m.scrollLog(action)
	case keymap.Plugins:
		m.movePlugin(action, steps)
	case keymap.History:
		m.historyAt = moved(m.historyAt, steps, len(m.deck.Deployments(m.app)))
	case keymap.Resources:
		if m.resources.tree != nil {
			m.resources.choose(m.resources.at + steps)
		}
	case keymap.Environment:
		m.environmentUp = max(0, min(far, m.environmentUp-steps))
	}
}

func (m *model) movePlugin(action keymap.Action, steps int) {
	switch action {
	case keymap.PageUp, keymap.PageDown:
		lines := len(m.plugin().GetLastOutput())
		m.pluginUp = max(0, min(lines, m.pluginUp-steps))
	default:
		plugins := m.deck.Plugins()
		at := index(plugins, func(p *deckv1.Plugin) bool { return state.PluginKey(p) == m.pluginKey })
		if len(plugins) > 0 {
			m.pluginKey, m.pluginUp = state.PluginKey(plugins[moved(at, steps, len(plugins))]), 0
		}
	}
}

func (m *model) scrollLog(action keymap.Action) {
	switch action {
	case keymap.Up:
		m.log.Scroll(-1)
	case keymap.Down:
		m.log.Scroll(1)
	case keymap.PageUp:
		m.log.Page(-1)
	case keymap.PageDown:
		m.log.Page(1)
	case keymap.Top:
		m.log.Start()
	case keymap.Bottom:
		m.log.Follow()
	}
}
