// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// StageWord is what commands and sentences call a stage: the id that its author gave it, else its type.
func StageWord(s *deckv1.Stage) string { return cmp.Or(s.GetConfigId(), s.GetName()) }

// IsStage reports whether a user means the stage by a word: the id that its author gave it, its type, or its id in the
// deck API.
func IsStage(s *deckv1.Stage, word string) bool {
	return word != "" && (word == s.GetConfigId() || word == s.GetName() || word == s.GetId())
}

// StageArgument returns what names the stage to a command, among the stages that the command may mean: its word, or its
// id in the deck API when the word means another one of them, too.
func StageArgument(among []*deckv1.Stage, s *deckv1.Stage) string {
	word := StageWord(s)
	if slices.ContainsFunc(among, func(o *deckv1.Stage) bool { return o.GetId() != s.GetId() && IsStage(o, word) }) {
		return s.GetId()
	}
	return word
}

// StagesThat returns the stages of a deployment that a user can act on in one way, such as approve.
func StagesThat(d *deckv1.Deployment, can func(*deckv1.Stage) bool) (stages []*deckv1.Stage) {
	for _, s := range d.GetStages() {
		if can(s) {
			stages = append(stages, s)
		}
	}
	return stages
}
