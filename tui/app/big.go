// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// big reports whether the screen shows the stages or a log large in big mode. The other panes are as on a zoomed screen
// then, and screens without room for tabs are as ever.
func (s *screen) big() bool {
	return s.main && s.tabbed() && (s.focus == keymap.Deployment || s.focus == keymap.Log)
}

// renderBig draws the stages or the log for people far away from the screen. What is wrong with the environment stands
// in the first line.
func (m *model) renderBig(width, height int) string {
	pane := m.panes.deployment
	pane.width, pane.height = width, height
	v := view.Big{Deployment: pane.view(), Simulated: m.actions.simulated(m.chosen.application())}
	if header := m.link.header(m.host, true); !header.Calm() {
		v.Alarm = header.Draw(width)
	}
	v.Playback = m.host.drawPlayback(width)
	if m.input.ignoring {
		v.Said = []string{m.drawFooter(width)}
	} else if m.toast.text != "" || m.link.banner(m.host) != "" || m.typing() != nil ||
		m.host.caption != nil {
		v.Said = m.drawStatus(width, height/2, "")
	}
	v.Hint = m.host.key(keymap.Help) + " help   " + m.host.key(keymap.Quit) + " leaves"
	if m.screen.focus == keymap.Log {
		m.panes.log.prepare(true)
		v.Log = &m.panes.log.view
	} else if pane.look.shown() {
		v.Find = func(width int) string { return pane.look.draw(width, pane.hits()) }
	}
	return v.Draw(width, height)
}

// moveBig goes to another stage of those that are shown large.
func (p *deploymentPane) moveBig(action keymap.Action) {
	order := view.LayerOrder(p.chosen.deployment())
	if len(order) == 0 {
		return
	}
	at := index(order, func(id string) bool { return id == p.chosen.stageID })
	p.chosen.pinStage(order[moved(at, steps(action), len(order))])
}
