// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// input is what keys mean.
type input struct {
	keys keymap.Map
	// ignoring: a search was begun where none is; keys mean nothing until Esc or Enter.
	ignoring bool
}

// keyName is the name of a key in the keymap.
func keyName(key tea.KeyPressMsg) string {
	if key.Code == tea.KeySpace && key.Mod == 0 {
		return "space"
	}
	return key.String()
}

// press takes a key.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	name := keyName(key)
	switch {
	case name == "ctrl+c":
		m.input.ignoring = false
	case m.input.ignoring:
		if name == "esc" || name == "enter" {
			m.input.ignoring = false
			if m.scope() == keymap.HelpOverlay {
				m.overlays.pop() // the help covers the line that says what esc does
			}
		}
		return nil
	case m.panes.log.typing() && m.overlays.top() == nil:
		return m.panes.log.typeKey(key)
	}
	if m.screen.tooSmall() {
		if name == "q" || name == "ctrl+c" {
			return m.leaving.leave(LeaveRunning)
		}
		return nil
	}
	binding, known := m.input.keys.Find(m.scope(), name)
	switch {
	case !known && name == "/":
		m.input.ignoring = true // a user who types /search means none of the actions that its letters have here
		return nil
	case !known:
		return nil
	case m.overlays.top() != nil:
		return m.answer(binding.Action, name)
	}
	if reason := m.actions.reasons()[binding.Action]; reason != "" {
		return m.toast.say("cannot "+binding.Help+": "+reason, true)
	}
	return m.act(binding.Action)
}

// scope is where keys hold now.
func (m *model) scope() keymap.Scope {
	switch {
	case m.overlays.top() != nil:
		return m.overlays.top().where()
	case !m.screen.main:
		return keymap.Startup
	}
	return m.screen.focus
}

// answer gives a key to the overlay. The second ctrl+c in the dialog of the first leaves.
func (m *model) answer(action keymap.Action, key string) tea.Cmd {
	switch {
	case action != keymap.Interrupt:
		return m.overlays.top().act(action, key)
	case m.scope() == keymap.QuitDialog:
		return m.leaving.leave(LeaveRunning)
	}
	m.askLeave()
	return nil
}

// askLeave opens the dialog of q, whatever was typed.
func (m *model) askLeave() {
	m.input.ignoring = false
	m.panes.log.stopTyping()
	m.leaving.ask()
}

// act does what a key of the panes asks for.
func (m *model) act(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Quit, keymap.Interrupt:
		m.askLeave()
	case keymap.Help:
		m.overlays.push(&help{
			theme: m.host.theme, overlays: &m.overlays, keys: m.input.keys, reasons: m.actions.reasons,
		})
	case keymap.Approve:
		return m.actions.startApproval()
	case keymap.Skip:
		return m.actions.skip()
	case keymap.Sync:
		return m.actions.sync()
	case keymap.Cancel:
		m.actions.askCancel()
	case keymap.Restart:
		return m.actions.restart()
	case keymap.Reach:
		return m.actions.reach()
	case keymap.StartAgain:
		return m.leaving.leave(StartAgain)
	case keymap.Search:
		m.panes.log.startSearch()
	case keymap.NextMatch:
		return m.next(1)
	case keymap.PreviousMatch:
		return m.next(-1)
	case keymap.Follow:
		m.panes.log.view.Follow()
	case keymap.Wrap:
		m.panes.log.wrap()
		m.panes.plugins.wrap = m.panes.log.view.Wrap
	default:
		if !m.screen.main {
			m.screen.enterMain() // any other key leaves the start-up steps for the main screen
			return nil
		}
		m.navigate(action)
	}
	return nil
}

// next goes to the next match of the log, or the next problem of the resources; to the previous when n is negative.
func (m *model) next(n int) tea.Cmd {
	if m.screen.focus == keymap.Resources {
		return m.panes.resources.problem(n)
	}
	return m.panes.log.searchNext(n > 0)
}

// navigate moves the focus or within a pane.
func (m *model) navigate(action keymap.Action) {
	switch action {
	case keymap.NextPane:
		m.screen.turn(1)
	case keymap.PreviousPane:
		m.screen.turn(-1)
	case keymap.ShowApplications:
		m.screen.focus = keymap.Applications
	case keymap.ShowDeployment:
		m.screen.focus = keymap.Deployment
	case keymap.ShowLog:
		m.screen.focus = keymap.Log
	case keymap.ShowPlugins:
		m.screen.focus = keymap.Plugins
	case keymap.ShowEnvironment:
		m.screen.toggle(keymap.Environment)
	case keymap.ShowHistory:
		m.screen.toggle(keymap.History)
		m.panes.history.enter()
	case keymap.ShowResources:
		m.screen.toggle(keymap.Resources)
	case keymap.Open:
		m.open()
	case keymap.Back:
		m.back()
	case keymap.Left:
		m.sideways(-1)
	case keymap.Right:
		m.sideways(1)
	default:
		m.panes.of(m.screen.focus).move(action)
	}
}

func (m *model) open() {
	switch m.screen.focus {
	case keymap.Applications:
		m.screen.focus = keymap.Deployment
	case keymap.Deployment:
		m.screen.focus = keymap.Log
	case keymap.History:
		m.panes.history.open()
		m.screen.focus = keymap.Deployment
	}
}

func (m *model) back() {
	switch {
	case m.screen.focus == keymap.Log && m.panes.log.searched():
		m.panes.log.endSearch()
	case m.screen.focus == keymap.Deployment:
		m.chosen.release()
		m.panes.log.endSearch()
	default:
		m.screen.focus = keymap.Deployment
	}
}

func (m *model) sideways(n int) {
	focus := m.screen.focus
	switch {
	case focus == keymap.Log && m.panes.log.slide(n):
	case n < 0 && (focus == keymap.Deployment || focus == keymap.Log || focus == keymap.History ||
		focus == keymap.Resources):
		m.screen.focus = keymap.Applications
	case n > 0 && focus == keymap.Applications:
		m.screen.focus = keymap.Deployment
	}
}
