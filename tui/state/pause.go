// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
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

// DeploymentTook is how long a deployment has taken, without the time that it was paused at breakpoints.
func DeploymentTook(d *deckv1.Deployment, now time.Time) time.Duration {
	var paused time.Duration // that goes on
	for _, s := range d.GetStages() {
		if since := s.GetPause().GetSince(); since.IsValid() {
			paused = max(paused, Elapsed(since, s.GetCompletedAt(), now))
		}
	}
	return max(0, Elapsed(d.GetCreatedAt(), d.GetCompletedAt(), now)-d.GetPaused().AsDuration()-paused)
}

// DeploymentPauses say which stages of a deployment are paused, each with the command that goes on.
func DeploymentPauses(d *deckv1.Deployment) (texts []string) {
	paused := StagesThat(d, Paused)
	for _, s := range paused {
		texts = append(texts, PauseText(s)+"; go on with: "+ContinueCommand(d, s))
	}
	return texts
}

// ContinueCommand goes on with a paused stage of a deployment.
func ContinueCommand(d *deckv1.Deployment, s *deckv1.Stage) string {
	return "pipedeck continue " + text.ShellWord(d.GetApplicationName()) + " " +
		text.ShellWord(StageArgument(StagesThat(d, Paused), s))
}
