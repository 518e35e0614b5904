// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// EveryStage is the name in a breakpoint for all stages.
const EveryStage = "*"

// breakWords say when a breakpoint stops, as users write it.
var breakWords = map[deckv1.Breakpoint_When]string{
	deckv1.Breakpoint_WHEN_BEFORE: "before", deckv1.Breakpoint_WHEN_AFTER: "after",
	deckv1.Breakpoint_WHEN_FAILURE: "failure",
}

// BreakWord says when a breakpoint stops: before, after or failure.
func BreakWord(when deckv1.Breakpoint_When) string { return breakWords[when] }

// BreakText is a breakpoint as --break has it: "before shop/deploy".
func BreakText(b *deckv1.Breakpoint) string {
	word := BreakWord(b.GetWhen())
	switch {
	case b.GetApplication() != "":
		return word + " " + b.GetApplication() + "/" + b.GetStage()
	case b.GetWhen() == deckv1.Breakpoint_WHEN_FAILURE && b.GetStage() == EveryStage:
		return word
	}
	return word + " " + b.GetStage()
}

// Paused reports whether a stage is paused at a breakpoint.
func Paused(s *deckv1.Stage) bool { return s.GetPause() != nil }

// PauseText says where a stage is paused: "paused before deploy"; empty when it is not.
func PauseText(s *deckv1.Stage) string {
	switch s.GetPause().GetWhen() {
	case deckv1.Breakpoint_WHEN_BEFORE:
		return "paused before " + StageWord(s)
	case deckv1.Breakpoint_WHEN_AFTER:
		return "paused after " + StageWord(s)
	case deckv1.Breakpoint_WHEN_FAILURE:
		return "paused at the failure of " + StageWord(s)
	}
	return ""
}

// BreaksAt returns the breakpoints at a stage of an application, in their order.
func BreaksAt(all []*deckv1.Breakpoint, application string, s *deckv1.Stage) (found []*deckv1.Breakpoint) {
	for _, b := range all {
		named := b.GetStage() == EveryStage ||
			slices.Contains([]string{s.GetName(), StageWord(s)}, b.GetStage())
		if named && (b.GetApplication() == "" || b.GetApplication() == application) {
			found = append(found, b)
		}
	}
	return found
}
