// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"slices"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
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
	up   int
	look *find
}

func (p *environmentPane) finding() *find { return p.look }

// components are those that match the filter.
func (p *environmentPane) components() []*deckv1.Component {
	return slices.DeleteFunc(p.link.deck.Components(), func(c *deckv1.Component) bool {
		return p.look.query != "" && !p.look.matches(c.GetName(), c.GetDetail(), view.ComponentWord(c))
	})
}

// problems are those that match the filter.
func (p *environmentPane) problems() []*deckv1.Problem {
	return slices.DeleteFunc(slices.Clone(p.link.deck.Problems()), func(problem *deckv1.Problem) bool {
		return p.look.query != "" && !p.look.matches(problem.GetPart(), problem.GetReason())
	})
}

// found completes a drawing by the filter.
func (p *environmentPane) found(v view.Components, width, height int) string {
	all := len(p.link.deck.Components())
	v.List, v.Problems = p.components(), p.problems()
	v.None = noMatch(p.look, all, "parts")
	if p.look.query != "" {
		v.Pipeds, v.Environment = nil, nil // the filter is for parts
	}
	return drawFound(p.look, fmt.Sprintf("%d of %d", len(v.List), all), width, height,
		func(width, height int) string {
			down, up := v.Reach(width, height)
			p.up = max(down, min(p.up, up))
			v.Up = p.up
			return v.Draw(width, height)
		})
}

func (p *environmentPane) move(action keymap.Action) { p.up = max(-far, min(far, p.up-steps(action))) }

func (p *environmentPane) draw(width, height int, _ bool) string {
	deck := p.link.deck
	return p.found(view.Components{
		Theme: p.host.theme, Title: "Environment " + p.host.cfg.Name, Pipeds: deck.Pipeds(),
		Environment: deck.Environment(), Now: p.host.now, Frame: p.ticker.frame, Focused: true, Up: p.up,
	}, width, height)
}

// drawStartup draws the steps of an environment that starts.
func (p *environmentPane) drawStartup(width, height int) string {
	waiting := "connecting to the environment"
	switch off := p.host.brokenOff(); {
	case off != "":
		waiting = off
	case p.link.stopped() && p.host.cfg.ReadOnly != "":
		waiting = "the environment has stopped"
	case p.link.stopped():
		waiting = "the environment has stopped; press " + p.host.key(keymap.StartAgain) + " to start it again"
	case p.link.trouble != nil:
		waiting = "connecting to the environment: " + plain(p.link.trouble)
	case !p.link.silent.IsZero():
		waiting = "the environment has not answered for " + p.link.silence(p.host) + ": its process hangs or is stopped"
	}
	return p.found(view.Components{
		Theme: p.host.theme, Title: "Starting " + p.host.cfg.Name, Waiting: waiting, Since: p.since(), Now: p.host.now,
		Frame: p.ticker.frame, Focused: true,
	}, width, height)
}

// since is when the environment began to start, as far as is known.
func (p *environmentPane) since() time.Time {
	if at := p.link.deck.Environment().GetStartedAt(); at.IsValid() {
		return at.AsTime()
	}
	return p.begun
}
