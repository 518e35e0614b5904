// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// breakMarks are the marks of breakpoints, in every set of characters, in the order in which they are shown.
var breakMarks = []struct {
	when deckv1.Breakpoint_When
	mark string
}{
	{deckv1.Breakpoint_WHEN_BEFORE, "<"}, {deckv1.Breakpoint_WHEN_AFTER, ">"}, {deckv1.Breakpoint_WHEN_FAILURE, "!"},
}

// GraphStages are the stages of a deployment in the order of the pipeline, as every drawing of the graph names them:
// with marks before the names of stages that breakpoints name. A mark at every stage would distinguish none. The notes
// name the keys of what the user may do.
func GraphStages(d *deckv1.Deployment, environment *deckv1.Environment, keys Keys, now time.Time) []graph.Stage {
	stages := stagesOf(d, keys, now)
	own := slices.DeleteFunc(slices.Clone(environment.GetBreakpoints()), func(b *deckv1.Breakpoint) bool {
		return b.GetStage() == state.EveryStage
	})
	if len(own) == 0 {
		return stages
	}
	for i, s := range byIndex(d) {
		if marks := marksOf(state.BreaksAt(own, d.GetApplicationName(), s)); marks != "" {
			stages[i].Name = "[" + marks + "] " + stages[i].Name
		}
	}
	return stages
}

func marksOf(breaks []*deckv1.Breakpoint) (marks string) {
	for _, m := range breakMarks {
		if slices.ContainsFunc(breaks, func(b *deckv1.Breakpoint) bool { return b.GetWhen() == m.when }) {
			marks += m.mark
		}
	}
	return marks
}

// pause are the facts about the breakpoints of the stage, and about its pause at one.
func (v Inspector) pause() []fact {
	var words []string
	for _, b := range state.BreaksAt(v.Breaks, v.Deployment.GetApplicationName(), v.Stage) {
		words = append(words, text.Line(state.BreakText(b)))
	}
	facts := []fact{{"breakpoints", strings.Join(words, ", ")}}
	p := v.Stage.GetPause()
	if p == nil {
		return facts
	}
	since := v.Now.Sub(p.GetSince().AsTime())
	return append(facts,
		fact{"paused", fmt.Sprintf("since %s, for %s; no clock runs", v.clock(p.GetSince()), Ticking(max(0, since)))},
		fact{"result", text.Line(join(": ", p.GetResult(), p.GetReason()))},
		fact{"targets", text.Line(strings.Join(p.GetDeployTargets(), ", "))},
		fact{"directory", text.Line(p.GetDirectory())},
		fact{"running in", text.Line(p.GetRunningDirectory())},
	)
}

// options are those that the stage gets or got, in JSON; empty where they are not known.
func (v Inspector) options() string {
	if p := v.Stage.GetPause(); p.GetOptions() != "" {
		return p.GetOptions()
	}
	return v.Run.GetConfig()
}
