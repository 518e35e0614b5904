// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/text"
)

// HeldBy says where a debugger holds a plugin: "held by a debugger at stage.go:57"; empty while none does.
func HeldBy(p *deckv1.Plugin) string {
	if !p.GetHeld() {
		return ""
	}
	place, _, _ := strings.Cut(text.Line(p.GetHeldAt()), " (") // the function follows
	return join(" at ", "held by a debugger", place)
}

// drawn are the stages with the places where they are held.
func (v Deployment) drawn() []graph.Stage {
	stages := GraphStages(v.Deployment, v.Environment, v.Keys, v.Now)
	for i, s := range stages {
		stages[i].Note = join(", ", v.Held[s.ID], s.Note)
	}
	return stages
}

// heldStages is the same for the same places.
func (v Deployment) heldStages() string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(v.Held)) {
		all = append(all, id+" "+v.Held[id])
	}
	return strings.Join(all, "\n")
}
