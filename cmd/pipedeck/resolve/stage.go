// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/state"
)

// StageNames returns the words for a stage: the id that its author gave it, its type, and its id.
func StageNames(s *deckv1.Stage) []string { return []string{s.GetConfigId(), s.GetName(), s.GetId()} }

// Stages finds the stages of a deployment that the word names: one, or all of a type.
func (w Word) Stages(d *deckv1.Deployment) ([]*deckv1.Stage, error) {
	all := d.GetStages()
	found := Best(all, func(s *deckv1.Stage) int { return Fit(w.Text, StageNames(s)...) })
	switch {
	case len(found) == 1, len(found) > 1 && Fit(w.Text, StageNames(found[0])...) == fitsWhole:
		return found, nil
	case len(found) == 0:
		var names []string
		for _, s := range all {
			names = append(names, state.StageArgument(all, s))
		}
		hint := session.Choices("stage", names)
		if near := Nearest(w.Text, names); len(near) > 0 {
			hint = "did you mean " + near[0] + "? " + hint
		}
		return nil, exit.Usage(fmt.Errorf("there is no stage %q in the deployment of %s", w.Text,
			d.GetApplicationName()), hint)
	}
	var candidates []Candidate
	for _, s := range found {
		candidates = append(candidates, Candidate{w.with(state.StageArgument(all, s)), AboutStage(s)})
	}
	return nil, exit.Usage(fmt.Errorf("%q fits %d stages of %s", w.Text, len(found), d.GetApplicationName()),
		OneOf(candidates, "see pipedeck deployments"))
}

// AboutStage returns what distinguishes a stage from others of its deployment.
func AboutStage(s *deckv1.Stage) string {
	about := "stage " + state.StageWord(s)
	if word := state.StageWord(s); word != s.GetName() {
		about += " (" + s.GetName() + ")"
	}
	return about + ", " + document.Word(s.GetStatus())
}
