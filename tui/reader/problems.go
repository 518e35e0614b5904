// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
)

func (d *Differ) problem(at time.Time, p *deckv1.Problem) []Change {
	d.problems[p.GetId()] = p
	was, changed := d.news("problem "+p.GetId(), document.ProblemPresent, p.GetPart(), p.GetReason(), p.GetNextStep())
	if !changed {
		return nil
	}
	return []Change{{Kind: Problem, Time: at, Was: was, Problem: p, Component: d.deck.Component(p.GetComponent())}}
}

// cleared reports the end of a problem.
func (d *Differ) cleared(at time.Time, id string) []Change {
	p := d.problems[id]
	if p == nil {
		return nil
	}
	delete(d.problems, id)
	delete(d.said, "problem "+id)
	return []Change{{Kind: ProblemCleared, Time: at, Was: document.ProblemPresent, Problem: p}}
}

// clearMissing reports the end of the problems that are not in the complete state any more.
func (d *Differ) clearMissing(at time.Time) (changes []Change) {
	var gone []string
	for id := range d.problems {
		if d.deck.Problem(id) == nil {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		changes = append(changes, d.cleared(at, id)...)
	}
	return changes
}

// shownByComponent reports whether the failure of a component says all that its problem does.
func shownByComponent(c Change) bool {
	return c.Component.GetState() == deckv1.Component_STATE_FAILED && c.Component.GetDetail() == c.Problem.GetReason()
}

func problemSentence(p *deckv1.Problem) string {
	return strings.TrimSpace(sentence("The environment is degraded, "+p.GetPart(), p.GetReason()) + " Next step: " +
		strings.TrimRight(p.GetNextStep(), ".") + ".")
}
