// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// applicationsPane is the list of applications.
type applicationsPane struct {
	host   *host
	chosen *selection
	look   *find
}

func newApplicationsPane(h *host, chosen *selection) *applicationsPane {
	p := &applicationsPane{host: h, chosen: chosen, look: newFind(h.theme, "/")}
	p.look.mark, p.look.changed = chosen.mark, p.found
	return p
}

func (p *applicationsPane) finding() *find { return p.look }

// entry is an application with its deployments.
func (p *applicationsPane) entry(app *deckv1.Application) view.Application {
	deck, id := p.chosen.deck, app.GetId()
	return view.Application{Application: app, Name: deck.ApplicationName(app), Newest: deck.Present(id),
		Outcome: deck.Outcome(id), Problem: deck.ProblemOf(id)}
}

// list is the applications that match the filter, the best first.
func (p *applicationsPane) list() []*deckv1.Application {
	deck := p.chosen.deck
	if p.look.query == "" {
		return deck.Applications()
	}
	return ranked(p.look, deck.Applications(), func(app *deckv1.Application) []string { return p.entry(app).Words() })
}

// found selects the first match when the selected application is none.
func (p *applicationsPane) found() {
	list := p.list()
	if len(list) > 0 && !slices.ContainsFunc(list, p.selected) {
		p.chosen.pinApplication(list[0].GetId())
	}
}

func (p *applicationsPane) selected(app *deckv1.Application) bool { return app.GetId() == p.chosen.app }

func (p *applicationsPane) move(action keymap.Action) {
	apps := p.list()
	if len(apps) == 0 {
		return
	}
	at := index(apps, p.selected)
	p.chosen.pinApplication(apps[moved(at, steps(action), len(apps))].GetId())
}

// drawStrip draws all applications in one line.
func (p *applicationsPane) drawStrip(width int) string {
	apps := p.chosen.deck.Applications()
	list := make([]view.Application, len(apps))
	for i, app := range apps {
		list[i] = p.entry(app)
	}
	return view.ApplicationStrip{Theme: p.host.theme, List: list, Selected: index(apps, p.selected),
		Key: p.host.key(keymap.ShowApplications)}.Draw(width)
}

func (p *applicationsPane) draw(width, height int, focused bool) string {
	list, all := p.list(), len(p.chosen.deck.Applications())
	v := view.Applications{Theme: p.host.theme, Focused: focused, Now: p.host.now, List: list, Entry: p.entry,
		Selected: index(list, p.selected), None: noMatch(p.look, all, "applications")}
	return drawFound(p.look, fmt.Sprintf("%d of %d", len(list), all), width, height, v.Draw)
}
