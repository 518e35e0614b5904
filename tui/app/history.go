// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// historyPane is the list of deployments of the selected application.
type historyPane struct {
	host   *host
	chosen *selection
	at     int
	look   *find
}

func newHistoryPane(h *host, chosen *selection) *historyPane {
	p := &historyPane{host: h, chosen: chosen, look: newFind(h.theme, "/")}
	p.look.mark = func() func() { at := p.at; return func() { p.at = at } }
	p.look.changed = func() { p.at = 0 }
	return p
}

func (p *historyPane) finding() *find { return p.look }

func (p *historyPane) all() []*deckv1.Deployment { return p.chosen.deck.Deployments(p.chosen.app) }

// list is the deployments that match the filter.
func (p *historyPane) list() []*deckv1.Deployment {
	if p.look.query == "" {
		return p.all()
	}
	return ranked(p.look, p.all(), view.DeploymentWords)
}

// enter begins at the deployment on the screen.
func (p *historyPane) enter() {
	shown := p.chosen.deployment().GetId()
	p.at = index(p.list(), func(d *deckv1.Deployment) bool { return d.GetId() == shown })
}

// under is the deployment under the cursor; nil for none.
func (p *historyPane) under() *deckv1.Deployment {
	list := p.list()
	if len(list) == 0 {
		return nil
	}
	return list[min(p.at, len(list)-1)]
}

// open shows the deployment under the cursor.
func (p *historyPane) open() {
	if under := p.under(); under != nil {
		p.chosen.pinDeployment(under)
	}
}

func (p *historyPane) move(action keymap.Action) { p.at = moved(p.at, steps(action), len(p.list())) }

func (p *historyPane) draw(width, height int, _ bool) string {
	list, all := p.list(), len(p.all())
	v := view.History{
		Theme: p.host.theme, Application: p.chosen.name(), List: list, Selected: p.at,
		Now: p.host.known, None: noMatch(p.look, all, "deployments"),
	}
	return drawFound(p.look, fmt.Sprintf("%d of %d", len(list), all), width, height, v.Draw)
}
