// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// The smallest terminal that holds the screen.
const (
	minWidth  = 80
	minHeight = 24
)

// View draws the screen. A panic ends the UI in order, so that the terminal is restored.
func (m *model) View() (v tea.View) {
	v.AltScreen = true
	if m.err != nil {
		return v
	}
	defer func() {
		if r := recover(); r != nil {
			err := &PanicError{Value: r, Stack: debug.Stack()}
			m.work.spawn(func(context.Context) { m.send(crashMsg{err}) })
		}
	}()
	v.SetContent(m.render())
	return v
}

func (m *model) tooSmall() bool { return m.width < minWidth || m.height < minHeight }

func (m *model) render() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.tooSmall() {
		return view.TooSmall(m.width, m.height, minWidth, minHeight)
	}
	body := m.height - 3 // header, status, footer
	screen := strings.Join([]string{m.drawHeader(), m.drawBody(m.width, body), m.drawStatus(), m.drawFooter()}, "\n")
	switch {
	case m.dialog != nil:
		screen = view.Over(screen, m.dialog.draw(m, m.width-4, m.height-2), m.width, m.height)
	case m.help:
		help := view.Help{Theme: m.theme, Groups: m.keys.Help(), Reasons: m.reasons()}
		screen = view.Over(screen, help.Draw(m.width, m.height), m.width, m.height)
	}
	return screen
}

func (m *model) drawBody(width, height int) string {
	if !m.main {
		return m.drawStartup(width, height)
	}
	left := max(26, min(40, width*3/10))
	return lipgloss.JoinHorizontal(lipgloss.Top, m.drawLeft(left, height), m.drawRight(width-left, height))
}

func (m *model) drawStartup(width, height int) string {
	waiting := "connecting to the environment"
	switch {
	case m.stopped():
		waiting = "the environment has stopped; press u to start it again"
	case m.trouble != nil:
		waiting = "connecting to the environment: " + plain(m.trouble)
	}
	return view.Components{
		Theme: m.theme, Title: "Starting " + m.cfg.Name, List: m.deck.Components(), Waiting: waiting,
		Problems: m.deck.Problems(), Since: m.since(), Now: m.now, Frame: m.frame, Focused: true,
	}.Draw(width, height)
}

// drawLeft has the applications above the plugins.
func (m *model) drawLeft(width, height int) string {
	plugins := m.deck.Plugins()
	below := max(4, min(len(plugins)+2, height/2))
	apps := view.Applications{Theme: m.theme, Focused: m.focus == keymap.Applications}
	for i, app := range m.deck.Applications() {
		apps.List = append(apps.List, view.Application{Application: app, Newest: m.deck.Newest(app.GetId())})
		if app.GetId() == m.app {
			apps.Selected = i
		}
	}
	list := view.Plugins{Theme: m.theme, List: plugins, Name: m.deck.PluginName, Selected: m.pluginAt(plugins),
		Focused: m.focus == keymap.Plugins}
	return apps.Draw(width, height-below) + "\n" + list.Draw(width, below)
}

func (m *model) pluginAt(plugins []*deckv1.Plugin) int {
	return index(plugins, func(p *deckv1.Plugin) bool { return state.PluginKey(p) == m.pluginKey })
}

// drawRight shows what belongs to the pane with the focus.
func (m *model) drawRight(width, height int) string {
	switch m.focus {
	case keymap.Plugins:
		plugins := m.deck.Plugins()
		return view.PluginTable{
			Theme: m.theme, List: plugins, Name: m.deck.PluginName, Selected: m.pluginAt(plugins), Now: m.now,
			Busy: m.busy(plugins), Wrap: m.log.Wrap, Up: m.pluginUp,
		}.Draw(width, height)
	case keymap.Environment:
		return view.Components{
			Theme: m.theme, Title: "Environment " + m.cfg.Name, List: m.deck.Components(),
			Problems: m.deck.Problems(), Pipeds: m.deck.Pipeds(), Environment: m.deck.Environment(), Now: m.now,
			Frame: m.frame, Focused: true, Up: m.environmentUp,
		}.Draw(width, height)
	case keymap.Resources:
		return m.drawResources(width, height)
	case keymap.History:
		return view.History{
			Theme: m.theme, Application: m.application().GetName(), List: m.deck.Deployments(m.app),
			Selected: m.historyAt, Now: m.now,
		}.Draw(width, height)
	}
	return m.drawDeployment(width, height)
}

func (m *model) drawResources(width, height int) string {
	v := view.Resources{Theme: m.theme, Application: m.application(), Selected: m.resources.at, Now: m.now,
		Trouble: m.resources.trouble}
	switch tree := m.resources.tree; {
	case m.application() == nil:
		v.Waiting = "No application is selected."
	case tree == nil || !tree.Known():
		v.Waiting = "asking" + m.theme.Ellipsis
	default:
		v.Rows = tree.Rows()
		v.Waiting = "No live resources: not deployed yet, or its plugin does not report live state."
	}
	return v.Draw(width, height)
}

const (
	// sideBySide is the width from which the log stands next to the stages instead of below.
	sideBySide = 130
	// minLog is the least height of the log below the stages.
	minLog = 7
)

func (m *model) drawDeployment(width, height int) string {
	d := m.deployment()
	deployment := view.Deployment{
		Theme: m.theme, Application: m.application(), Deployment: d,
		Earlier: d != nil && m.pinnedDeployment != "" && d != m.deck.Newest(m.app),
		Stage:   m.stageID, Focused: m.focus == keymap.Deployment, Now: m.now,
	}
	m.log.Focused = m.focus == keymap.Log
	if width >= sideBySide {
		left := max(64, width*2/5)
		return lipgloss.JoinHorizontal(lipgloss.Top, deployment.Draw(left, height), m.log.Draw(width-left, height))
	}
	// The log gets at least a third; the stages get what they need of the rest.
	most := max(8, height-max(minLog, height*2/5))
	above := deployment.Height(width, true)
	if above > most {
		above = min(most, deployment.Height(width, false))
	}
	above = max(8, min(above, height-minLog))
	return deployment.Draw(width, above) + "\n" + m.log.Draw(width, height-above)
}

// busy are the running stages of each plugin, by state.PluginKey.
func (m *model) busy(plugins []*deckv1.Plugin) map[string][]string {
	busy := map[string][]string{}
	for _, app := range m.deck.Applications() {
		for _, stage := range m.deck.Newest(app.GetId()).GetStages() {
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

func (m *model) drawHeader() string {
	header := view.Header{
		Theme: m.theme, Name: m.cfg.Name, Version: m.cfg.Version, Clusters: m.deck.Environment().GetClusters(),
		Failed: len(m.deck.Failed()), Problems: m.deck.Problems(),
	}
	if m.main {
		header.Hint = ", press e"
	}
	for _, c := range m.deck.Components() {
		header.All++
		if c.GetState() == deckv1.Component_STATE_READY {
			header.Ready++
		}
		if m.main && c.GetState() == deckv1.Component_STATE_STARTING && c.GetTotal() > 0 {
			header.Starting = fmt.Sprintf("%s: %s %d%%", text.Line(c.GetName()), text.FirstLine(c.GetDetail()),
				100*c.GetDone()/c.GetTotal())
		}
	}
	return header.Draw(m.width)
}

func (m *model) drawStatus() string {
	e := m.deck.Environment()
	status := view.Status{
		Theme: m.theme, Toast: m.toast.text, Bad: m.toast.bad,
		Simulated: e.GetSimulated(), Repository: e.GetRepository(), Edit: e.GetEditHint(), Live: e.GetLive(),
	}
	switch {
	case m.stopped():
		status.Banner = "The environment has stopped: its process was killed. Press u to start it again, q to leave."
	case m.trouble != nil && m.client != nil:
		status.Banner = "The environment is not answering, reconnecting" + m.theme.Ellipsis + "  (" + plain(m.trouble) +
			")"
	}
	return status.Draw(m.width)
}

func (m *model) drawFooter() string {
	if m.ignoring {
		next := "press esc to use the keys again"
		if m.scope().IsPane() {
			next = "press esc, then 3 for the log"
		}
		return m.theme.Warn.Render(text.Pad(" no search here: "+next, m.width, m.theme.Ellipsis))
	}
	return view.Footer{Theme: m.theme, Bindings: m.keys.Footer(m.scope(), m.reasons())}.Draw(m.width)
}

// since is when the environment began to start, as far as is known.
func (m *model) since() time.Time {
	if at := m.deck.Environment().GetStartedAt(); at.IsValid() {
		return at.AsTime()
	}
	return m.begun
}
