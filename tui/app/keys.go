// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
)

// input is what keys mean.
type input struct {
	keys keymap.Map
	// ignoring: a search was begun over a dialog, which has none; keys mean nothing until Esc or Enter.
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
	m.toast.press()
	switch {
	case name == "ctrl+c":
		return m.interrupt()
	case m.input.ignoring:
		m.input.ignoring = name != "esc" && name != "enter"
		return nil
	case m.typing() != nil:
		m.toast.typed()
		return m.typeKey(name, key)
	}
	if m.screen.tooSmall() {
		if name == "q" {
			return m.leaving.leave(LeaveRunning)
		}
		return nil
	}
	binding, known := m.input.keys.Find(m.scope(), name)
	switch {
	case !known && name == "/":
		m.input.ignoring = true // a user who types /search means none of the answers that its letters are here
		return nil
	case !known:
		return m.toast.note(text.Line(name) + " does nothing here " + m.host.theme.Dot + " " +
			m.host.key(keymap.Help) + " lists the keys")
	case m.overlays.top() != nil:
		return m.overlays.top().act(binding.Action, name)
	}
	return m.run(binding)
}

// run does what a key of the panes asks for, or says why not.
func (m *model) run(binding keymap.Binding) tea.Cmd {
	if reason := cmp.Or(m.host.elsewhere(binding, m.scope()), m.actions.reasons()[binding.Action]); reason != "" {
		does, _, _ := strings.Cut(binding.Help, ";")
		if strings.HasPrefix(does, "the ") { // a place
			does = "show " + does
		}
		return m.toast.say("cannot "+does+": "+reason, true)
	}
	if without := noMove(m, binding.Action); without != "" {
		return m.toast.note(without)
	}
	if movesSession(m, binding.Action) || m.host.goesOn(binding.Action) {
		return nil
	}
	return m.act(binding.Action)
}

// searchable is where the user can look for something.
type searchable interface {
	finding() *find
	move(action keymap.Action)
}

// searchable is the place with the keys; nil when nothing can be looked for in it.
func (m *model) searchable() searchable {
	if top := m.overlays.top(); top != nil {
		found, _ := top.(searchable)
		return found
	}
	if !m.screen.main {
		return m.panes.environment
	}
	return m.panes.of(m.screen.focus)
}

// typing is the line that has the keys; nil when they are keys.
func (m *model) typing() *find {
	if place := m.searchable(); place != nil && place.finding().typing {
		return place.finding()
	}
	return nil
}

// typeKey takes a key of the line that is typed.
func (m *model) typeKey(name string, key tea.KeyPressMsg) tea.Cmd {
	binding, _ := m.input.keys.Find(m.scope(), name)
	switch binding.Action {
	case keymap.Up, keymap.Down, keymap.PageUp, keymap.PageDown:
		m.searchable().move(binding.Action)
		return nil
	case keymap.Copy:
		return clipboard{m.host, &m.toast}.takeCommand(m.overlays.top())
	}
	return m.typing().act(binding.Action, key)
}

// paste gives pasted text to the line that is typed. It is never taken for keys.
func (m *model) paste(content string) tea.Cmd {
	if line := m.typing(); line != nil {
		line.paste(content)
		return nil
	}
	return m.toast.note("pasted text does nothing here " + m.host.theme.Dot + " press " +
		m.host.key(keymap.Search) + " or " + m.host.key(keymap.Palette) + " first")
}

// scope is where keys hold now.
func (m *model) scope() keymap.Scope {
	top := m.overlays.top()
	switch {
	case top != nil && top.where() == keymap.PaletteOverlay:
		return keymap.PaletteOverlay
	case m.typing() != nil:
		return keymap.Typing
	case top != nil:
		return m.overlays.top().where()
	case !m.screen.main:
		return keymap.Startup
	}
	return m.screen.focus
}

// interrupt ends the UI and keeps everything running, whatever is open or typed. Actions under way are waited for, the
// second time no more.
func (m *model) interrupt() tea.Cmd {
	if m.leaving.waiting || m.actions.pending == 0 {
		return m.leaving.leave(LeaveRunning)
	}
	m.leaving.waiting = true
	return m.toast.note("leaving after the answer; ctrl+c leaves at once")
}

// answered takes the outcome of an action. A user who has left stays when it failed.
func (m *model) answered(msg actionMsg) tea.Cmd {
	if msg.asked {
		m.actions.pending--
	}
	if msg.address != "" {
		m.cards.addresses[msg.app] = msg.address
	}
	if msg.err != nil {
		m.leaving.waiting = false
		return m.toast.say(msg.err.Error(), true)
	}
	if m.leaving.waiting && m.actions.pending == 0 {
		return m.leaving.leave(LeaveRunning)
	}
	return m.toast.say(msg.done, false)
}

// act does what a key of the panes asks for.
func (m *model) act(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Quit:
		return m.leaving.ask()
	case keymap.Help:
		m.openHelp()
	case keymap.Palette:
		m.openPalette()
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Zoom:
		m.screen.zoomed = !m.screen.zoomed
	case keymap.Big:
		m.host.look.Big = !m.host.look.Big
	case keymap.Copy:
		return clipboard{m.host, &m.toast}.takePane(m.panes.of(m.screen.focus))
	case keymap.Approve:
		return m.actions.startApproval()
	case keymap.Skip, keymap.Break:
		return breaks{&m.actions}.ask(action)
	case keymap.Sync:
		return m.actions.askSync()
	case keymap.PutBack:
		return m.actions.askPutBack()
	case keymap.Cancel:
		return m.actions.askCancel()
	case keymap.Retry:
		return m.actions.askRetry()
	case keymap.Rollback:
		return m.actions.rollBack(m.panes.history.under())
	case keymap.Restart:
		return m.actions.askRestart()
	case keymap.Reach, keymap.LookNow:
		return lookOrReach(&m.actions, action, &m.toast)
	case keymap.EditManifest:
		return m.actions.edit()
	case keymap.StartAgain:
		return m.link.start(m.host)
	case keymap.Search:
		m.toast.typed()
		m.searchable().finding().begin()
	case keymap.NextMatch, keymap.PreviousMatch:
		return m.next(map[bool]int{true: 1, false: -1}[action == keymap.NextMatch])
	case keymap.Form:
		m.panes.deployment.turn()
	case keymap.Fold:
		m.panes.deployment.toggleFolds()
	case keymap.Wrap:
		m.panes.log.wrap()
		m.panes.plugins.wrap = m.panes.log.view.Wrap
	default:
		if cmd, known := m.panes.log.act(action, &m.toast); known {
			return cmd
		}
		if !m.screen.main {
			m.screen.enterMain() // any other key leaves the start-up steps for the main screen
			return nil
		}
		return m.navigate(action)
	}
	return nil
}

func (m *model) openHelp() {
	h := newHelp(m.host, &m.overlays)
	h.keys, h.scope, h.reasons = m.input.keys, m.scope(), m.actions.reasons
	m.overlays.push(h)
}

func (m *model) openPalette() {
	scope := m.scope()
	p := newPalette(m.host, &m.overlays)
	p.keys, p.scope, p.reasons, p.run = m.input.keys, scope, m.actions.reasons, m.run
	p.of = m.actions.same
	m.overlays.push(p)
}

// next goes to the next hit or problem of the pane; to the previous when n is negative.
func (m *model) next(n int) tea.Cmd {
	switch m.screen.focus {
	case keymap.Resources:
		return m.panes.resources.problem(n)
	case keymap.Deployment:
		return m.panes.deployment.next(n)
	case keymap.Preview:
		return m.panes.preview.next(n)
	}
	return m.panes.log.searchNext(n > 0)
}

// navigate moves the focus or within a pane.
func (m *model) navigate(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Shell:
		return shellsOf(&m.actions).open()
	case keymap.Fault:
		injectionsOf(&m.actions).ask()
	case keymap.Calls:
		callsOf(&m.actions).choose(m.panes.inspector)
	case keymap.PodShell:
		return shellsOf(&m.actions).openIn(m.panes.resources.selected())
	case keymap.PodLog:
		m.panes.log.source.pod = m.panes.resources.pod()
		m.panes.log.view.Follow()
		m.screen.focus = keymap.Log
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
	case keymap.ShowInsights:
		m.screen.toggle(keymap.Insights)
	case keymap.ShowPreview:
		m.screen.focus = keymap.Preview
		m.panes.preview.enter()
	case keymap.ShowShare:
		return openShare(m)
	case keymap.ShowCard:
		m.panes.log.follow()
		m.cards.show()
	case keymap.Inspect:
		m.panes.inspector.enter()
		m.screen.toggle(keymap.Inspector)
	case keymap.Open:
		return m.open()
	case keymap.Back:
		m.back()
	case keymap.Left:
		return m.sideways(-1)
	case keymap.Right:
		return m.sideways(1)
	default:
		m.panes.of(m.screen.focus).move(action)
	}
	return nil
}

func (m *model) open() tea.Cmd {
	switch m.screen.focus {
	case keymap.Applications:
		m.screen.focus = keymap.Deployment
	case keymap.Deployment:
		if !m.panes.deployment.unfold() {
			m.panes.log.source.all, m.panes.log.source.pod = false, podOf{}
			m.screen.focus = keymap.Log
		}
	case keymap.Log:
		if m.host.look.Big {
			m.screen.focus = keymap.Deployment
			return nil
		}
		m.panes.log.fold()
	case keymap.History:
		m.panes.history.open()
		m.screen.focus = keymap.Deployment
	case keymap.Inspector:
		m.panes.inspector.open()
		m.screen.focus = keymap.Log
	case keymap.Resources:
		m.panes.resources.open()
	case keymap.Insights:
		if m.panes.insights.open() {
			m.screen.focus = keymap.History
		}
	case keymap.Preview:
		return m.panes.preview.preview()
	}
	return nil
}

func (m *model) back() {
	look := m.panes.of(m.screen.focus).finding()
	switch {
	case m.screen.focus == keymap.Log && m.panes.log.view.Selecting():
		m.panes.log.view.Unselect()
	case look.query != "":
		look.clear()
	case m.screen.focus == keymap.Resources && m.panes.resources.opened:
		m.panes.resources.opened = false
	case m.screen.focus == keymap.Preview && m.panes.preview.back():
	case m.cards.visible():
		m.cards.hide()
	case m.screen.zoomed && m.panes.log.following():
		m.screen.zoomed = false
	case m.screen.focus == keymap.Deployment:
		m.panes.log.follow()
		m.panes.log.look.clear()
	case m.screen.focus == keymap.Log && !m.panes.log.following():
		m.panes.log.follow()
	case m.screen.focus == keymap.Log && m.panes.log.source.pod != podOf{}:
		m.panes.log.source.pod = podOf{}
		m.screen.focus = keymap.Resources
	default:
		m.screen.focus = keymap.Deployment
	}
}

func (m *model) sideways(n int) tea.Cmd {
	focus := m.screen.focus
	switch {
	case focus == keymap.Deployment && n < 0:
		return m.panes.deployment.along(graph.Left)
	case focus == keymap.Deployment:
		return m.panes.deployment.along(graph.Right)
	case focus == keymap.Log && m.panes.log.slide(n):
	case n < 0 && (focus == keymap.Log || focus == keymap.History || focus == keymap.Resources ||
		focus == keymap.Inspector || focus == keymap.Insights || focus == keymap.Preview):
		m.screen.focus = keymap.Applications
	case n > 0 && focus == keymap.Applications:
		m.screen.focus = keymap.Deployment
	}
	return nil
}
