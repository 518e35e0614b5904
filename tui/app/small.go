// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/theme"
	"github.com/pipedeck/pipedeck/tui/view"
)

// renderSmall draws one pane at a time: with tabs where there is room for them, else the state in a few words.
func (m *model) renderSmall() string {
	width, height := m.screen.width, m.screen.height
	if !m.screen.tabbed() {
		said := []string{m.drawFooter(width)} // the only line there: what the user has to know now, else the keys
		if m.toast.text != "" || m.link.banner(m.host) != "" || m.typing() != nil {
			said = m.drawStatus(width, height-2, "")
		}
		return cover(compose(height, m.drawTiny(width, height, said[len(said)-1])), said, height-1)
	}
	body := rect{0, 2, width, height - 4}
	parts := []part{{rect{0, 0, width, 1}, m.link.header(m.host, m.screen.main).Draw(width)}}
	if m.screen.main {
		parts = append(parts, part{rect{0, 1, width, 1}, m.screen.drawTabs(m.link.deck, m.host.theme, width)})
	} else {
		body = rect{0, 1, width, height - 3}
	}
	card := body.foot(m.cards.height(width, body.height-minStages))
	body.height -= card.height
	parts = append(parts, m.panes.drawAlone(&m.screen, body)...)
	parts = append(parts, m.cards.parts(card)...)
	said := m.drawStatus(width, height/2, m.host.drawPlayback(width))
	parts = append(parts, part{rect{0, height - 2, width, 1}, said[len(said)-1]},
		part{rect{0, height - 1, width, 1}, m.drawFooter(width)})
	return cover(compose(height, parts), said, height-2)
}

func (s *screen) drawTabs(deck *state.Deck, th theme.Theme, width int) string {
	focus := s.focus
	tabs := view.Tabs{Theme: th, List: []view.Tab{
		{Name: fmt.Sprintf("1 Apps %d", len(deck.Applications())), Open: focus == keymap.Applications},
		{Name: "2 Deployment", Open: focus == keymap.Deployment},
		{Name: "3 Log", Open: focus == keymap.Log},
		{Name: fmt.Sprintf("4 Plugins %d", len(deck.Plugins())), Open: focus == keymap.Plugins},
	}}
	return tabs.Draw(width)
}

// drawAlone draws the pane with the focus; below the deployment comes its log where both have room.
func (p *panes) drawAlone(s *screen, body rect) []part {
	if !s.main {
		return []part{{body, p.environment.drawStartup(body.width, body.height)}}
	}
	switch focus := s.focus; focus {
	case keymap.Applications:
		return []part{{body, p.applications.draw(body.width, body.height, true)}}
	case keymap.Log:
		return []part{{body, p.log.draw(body.width, body.height, true)}}
	case keymap.Deployment:
		above, below := body, body
		if body.height >= minStages+minTail {
			most := body.height - minTail
			above.height = max(minStages, min(p.deployment.want(body.width, most), most))
			below.y, below.height = body.y+above.height, body.height-above.height
			return []part{{above, p.deployment.draw(above.width, above.height, true)},
				{below, p.log.draw(below.width, below.height, false)}}
		}
		return []part{{above, p.deployment.draw(above.width, above.height, true)}}
	default:
		return []part{{body, p.side(focus).draw(body.width, body.height, true)}}
	}
}

// drawTiny draws the deployment in a few words, or the pane with the focus: below the state where both have room.
func (m *model) drawTiny(width, height int, bottom string) []part {
	last := part{rect{0, height - 1, width, 1}, bottom}
	body := rect{0, 0, width, height - 1}
	if !m.screen.main {
		return []part{{body, m.panes.environment.drawStartup(width, body.height)}, last}
	}
	tiny := view.Tiny{Theme: m.host.theme, Application: m.chosen.application(), Name: m.chosen.name(),
		Deployment: m.chosen.deployment(),
		Stage:      m.chosen.stageID, Now: m.host.known,
		QueueTime: m.panes.deployment.queue().Time}
	look := m.panes.deployment.finding()
	const roomy = 8
	if m.screen.focus != keymap.Deployment && height < roomy {
		return slices.Concat(m.panes.drawAlone(&m.screen, body), []part{last})
	}
	if m.screen.focus != keymap.Deployment {
		below := rect{0, 2, width, body.height - 2}
		state := part{rect{0, 0, width, 2}, tiny.Draw(width, 2)}
		return slices.Concat([]part{state}, m.panes.drawAlone(&m.screen, below), []part{last})
	}
	return []part{{body, drawFound(look, "", width, body.height, tiny.Draw)}, last}
}
