// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/view"
)

// environmentPane is the list of the parts of the environment, also while they start.
type environmentPane struct {
	host   *host
	link   *link
	ticker *ticker
	// begun is when the UI began.
	begun time.Time
	// up is how far the reader has gone back.
	up int
}

func (p *environmentPane) move(action keymap.Action) { p.up = max(0, min(far, p.up-steps(action))) }

func (p *environmentPane) draw(width, height int, _ bool) string {
	deck := p.link.deck
	return view.Components{
		Theme: p.host.theme, Title: "Environment " + p.host.cfg.Name, List: deck.Components(),
		Problems: deck.Problems(), Pipeds: deck.Pipeds(), Environment: deck.Environment(), Now: p.host.now,
		Frame: p.ticker.frame, Focused: true, Up: p.up,
	}.Draw(width, height)
}

// drawStartup draws the steps of an environment that starts.
func (p *environmentPane) drawStartup(width, height int) string {
	waiting := "connecting to the environment"
	switch {
	case p.link.stopped():
		waiting = "the environment has stopped; press u to start it again"
	case p.link.trouble != nil:
		waiting = "connecting to the environment: " + plain(p.link.trouble)
	}
	return view.Components{
		Theme: p.host.theme, Title: "Starting " + p.host.cfg.Name, List: p.link.deck.Components(), Waiting: waiting,
		Problems: p.link.deck.Problems(), Since: p.since(), Now: p.host.now, Frame: p.ticker.frame, Focused: true,
	}.Draw(width, height)
}

// since is when the environment began to start, as far as is known.
func (p *environmentPane) since() time.Time {
	if at := p.link.deck.Environment().GetStartedAt(); at.IsValid() {
		return at.AsTime()
	}
	return p.begun
}
