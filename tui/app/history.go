// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// historyPane is the list of deployments of the selected application.
type historyPane struct {
	host   *host
	chosen *selection
	at     int
}

func (p *historyPane) list() []*deckv1.Deployment { return p.chosen.deck.Deployments(p.chosen.app) }

// enter begins at the deployment on the screen.
func (p *historyPane) enter() {
	shown := p.chosen.deployment().GetId()
	p.at = index(p.list(), func(d *deckv1.Deployment) bool { return d.GetId() == shown })
}

// open shows the deployment under the cursor.
func (p *historyPane) open() {
	if list := p.list(); len(list) > 0 {
		p.chosen.pinDeployment(list[min(p.at, len(list)-1)])
	}
}

func (p *historyPane) move(action keymap.Action) { p.at = moved(p.at, steps(action), len(p.list())) }

func (p *historyPane) draw(width, height int, _ bool) string {
	return view.History{
		Theme: p.host.theme, Application: p.chosen.application().GetName(), List: p.list(), Selected: p.at,
		Now: p.host.now,
	}.Draw(width, height)
}
