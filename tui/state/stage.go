// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// StageWord is what commands and sentences call a stage: the id that its author gave it, else its type.
func StageWord(s *deckv1.Stage) string { return cmp.Or(s.GetConfigId(), s.GetName()) }

// IsStage reports whether a user means the stage by a word: the id that its author gave it, its type, or its id in the
// deck API.
func IsStage(s *deckv1.Stage, word string) bool {
	return word != "" && (word == s.GetConfigId() || word == s.GetName() || word == s.GetId())
}
