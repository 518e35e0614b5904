// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// applicationsPane is the list of applications.
type applicationsPane struct {
	host   *host
	chosen *selection
}

func (p *applicationsPane) move(action keymap.Action) {
	apps := p.chosen.deck.Applications()
	if len(apps) == 0 {
		return
	}
	at := index(apps, func(a *deckv1.Application) bool { return a.GetId() == p.chosen.app })
	p.chosen.pinApplication(apps[moved(at, steps(action), len(apps))].GetId())
}

func (p *applicationsPane) draw(width, height int, focused bool) string {
	v := view.Applications{Theme: p.host.theme, Focused: focused}
	for i, app := range p.chosen.deck.Applications() {
		v.List = append(v.List, view.Application{Application: app, Newest: p.chosen.deck.Newest(app.GetId())})
		if app.GetId() == p.chosen.app {
			v.Selected = i
		}
	}
	return v.Draw(width, height)
}
