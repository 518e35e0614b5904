// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// buildWords are a build of a plugin with its time and version; "" for none.
func buildWords(b *deckv1.PluginBuild, now time.Time) string {
	if b.GetHash() == "" {
		return ""
	}
	built := ""
	if b.GetBuiltAt().IsValid() {
		built = "of " + moment(b.GetBuiltAt().AsTime(), now)
	}
	return join(" ", text.Line(b.GetHash()), built, text.Line(b.GetVersion()))
}

// moment is a time of the day, with the day where it is another one.
func moment(at, now time.Time) string {
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// crashes counts the crashes of a plugin. An older piped does not distinguish them among the restarts.
func crashes(p *deckv1.Plugin) int32 {
	if p.GetBuild() == nil && p.GetReloads()+p.GetCrashes()+p.GetInjectedEnds()+p.GetAbandonedEnds() == 0 {
		return p.GetRestarts()
	}
	return p.GetCrashes()
}

// exitWords say how a process ended, in one line: the error and its place come first, because there may be no room for
// more.
func exitWords(e *deckv1.PluginExit) string {
	said := text.Line(e.GetError())
	if e.GetPlace() != "" {
		said = join(" at ", said, text.Line(e.GetPlace()))
	}
	return join("; ", said, text.Line(e.GetReason()))
}

// exitFacts are the last exits of a plugin, the newest first, each with its time and build.
func exitFacts(p *deckv1.Plugin, now time.Time) (facts []fact) {
	for i, e := range slices.Backward(p.GetExits()) {
		label := map[bool]string{true: "last exits"}[i == len(p.GetExits())-1]
		up := ""
		if e.GetUptime().IsValid() {
			up = "after " + Duration(e.GetUptime().AsDuration())
		}
		facts = append(facts, fact{label, join("  ", moment(e.GetAt().AsTime(), now),
			join(" ", exitWords(e), up), text.Line(e.GetBuild().GetHash()))})
	}
	return facts
}

// silence says for how long a running stage has shown no sign of life; "" for others.
func silence(s *deckv1.Stage, now time.Time) string {
	if s.GetStatus() != deckv1.StageStatus_STAGE_STATUS_RUNNING || !s.GetSilentSince().IsValid() || now.IsZero() {
		return ""
	}
	return "no output for " + Ticking(state.Elapsed(s.GetSilentSince(), nil, now))
}

// planningWait says which plugin the planning of a deployment waits for; "" for none.
func planningWait(d *deckv1.Deployment, now time.Time) string {
	if d.GetPlanningWaitsFor() == "" || state.Ended(d.GetStatus()) {
		return ""
	}
	return fmt.Sprintf("planning waits for plugin %s, %s", text.Line(d.GetPlanningWaitsFor()),
		Ticking(state.Elapsed(d.GetPlanningSince(), nil, now)))
}

// reloads says how often a changed program has taken over; "" for never.
func reloads(p *deckv1.Plugin) string {
	if p.GetReloads() == 0 {
		return ""
	}
	return Count(int(p.GetReloads()), "reload")
}
