// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Problems returns the causes why the environment does not work as it should, the oldest first. An environment without
// problems is not degraded.
func (d *Deck) Problems() []*deckv1.Problem {
	return sorted(d.problems, func(a, b *deckv1.Problem) int {
		return cmp.Or(a.GetSince().AsTime().Compare(b.GetSince().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
}

// Problem returns nil when there is none with that id.
func (d *Deck) Problem(id string) *deckv1.Problem { return d.problems[id] }

// ProblemOf returns the problem that the configuration of an application is; nil when there is none.
func (d *Deck) ProblemOf(application string) *deckv1.Problem {
	for _, p := range d.problems {
		if p.GetApplicationId() == application && application != "" {
			return p
		}
	}
	return nil
}

// RepositoryUnread reports whether a problem keeps the commits of the watched repository from being seen.
func (d *Deck) RepositoryUnread() bool {
	for _, p := range d.problems {
		if p.GetComponent() == "repository" || strings.HasPrefix(p.GetPart(), "repository ") {
			return true
		}
	}
	return false
}
