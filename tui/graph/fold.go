// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

const (
	// leastFold is how many stages are worth a fold.
	leastFold = 3
	// widestFan is how many equal stages side by side stay as they are.
	widestFan = 8

	foldDone = "\x00done"
	foldNext = "\x00to come"
)

// Fold contracts what a reader can do without: the leading layers that are all done but the last of them, the layers
// from the one ahead + 1 after the last that has started, and fans of more than eight equal stages. Stages of the
// rollback stay as they are. A fold that keep names, or that would hide a stage that keep names, is not made.
func Fold(stages []Stage, ahead int, keep ...string) []Stage {
	forward, rollback := split(stages)
	layers := layout.NewGraph(nodes(forward)).Layers()
	done, started := foldBounds(forward, layers)
	into := make(map[string]string)
	var before, after []Stage
	for i, stage := range forward {
		switch {
		case layers[i] < done:
			before = append(before, stage)
		case layers[i] > started+ahead:
			after = append(after, stage)
		}
	}
	addFold(into, before, foldDone, keep)
	addFold(into, after, foldNext, keep)
	folded := contract(forward, into, func(id string, members []Stage) Stage {
		if id == foldDone {
			return Stage{Name: fmt.Sprintf("%d done ▸", len(members)), Status: Done, Duration: lastEnd(members)}
		}
		return Stage{Name: fmt.Sprintf("%d to come ▸", len(members))}
	})
	return append(foldFans(folded, keep), rollback...)
}

// FoldOf returns the id of the fold that hides a stage, or "" where none does.
func FoldOf(stages []Stage, ahead int, id string) string {
	is := func(s Stage) bool { return s.ID == id }
	folded := Fold(stages, ahead)
	if slices.ContainsFunc(folded, is) {
		return ""
	}
	for _, f := range folded {
		if f.IsFold() && slices.ContainsFunc(Fold(stages, ahead, f.ID), is) {
			return f.ID
		}
	}
	return ""
}

func addFold(into map[string]string, members []Stage, id string, keep []string) {
	if len(members) < leastFold || slices.Contains(keep, id) ||
		slices.ContainsFunc(members, func(s Stage) bool { return slices.Contains(keep, s.ID) }) {
		return
	}
	for _, stage := range members {
		into[stage.ID] = id
	}
}

// foldBounds returns the last layer of those at the start that are all done, and the last layer that has started; -1
// for none.
func foldBounds(stages []Stage, layers []int) (done, started int) {
	open := len(stages)
	started = -1
	for i, stage := range stages {
		if !stage.Status.met() {
			open = min(open, layers[i])
		}
		if stage.Status != NotStarted && stage.Status != Cancelled {
			started = max(started, layers[i])
		}
	}
	if len(layers) > 0 {
		open = min(open, slices.Max(layers)+1)
	}
	return open - 1, started
}

func lastEnd(stages []Stage) time.Duration {
	var end time.Duration
	for _, stage := range stages {
		end = max(end, stage.Start+stage.Duration)
	}
	return end
}

// contract replaces the stages that into names by their folds. A fold stands where its first stage stood and needs what
// its stages need of others.
func contract(stages []Stage, into map[string]string, describe func(string, []Stage) Stage) []Stage {
	members := make(map[string][]Stage)
	for _, stage := range stages {
		if id, folded := into[stage.ID]; folded {
			members[id] = append(members[id], stage)
		}
	}
	var result []Stage
	seen := make(map[string]bool)
	for _, stage := range stages {
		id, folded := into[stage.ID]
		if !folded {
			stage.Needs = replaceNeeds(stage.Needs, into, "")
			result = append(result, stage)
			continue
		}
		if seen[id] {
			continue
		}
		seen[id] = true
		f := describe(id, members[id])
		f.ID, f.kind, f.Note = id, fold, "enter unfolds"
		var needs []string
		for _, member := range members[id] {
			needs = append(needs, member.Needs...)
		}
		f.Needs = replaceNeeds(needs, into, id)
		result = append(result, f)
	}
	return result
}

// replaceNeeds names folds in place of their stages, each once and never the fold itself.
func replaceNeeds(needs []string, into map[string]string, itself string) []string {
	var result []string
	for _, need := range needs {
		if id, folded := into[need]; folded {
			need = id
		}
		if need != itself && !slices.Contains(result, need) {
			result = append(result, need)
		}
	}
	return result
}

// foldFans contracts stages with the same needs, the same followers and the same state, done or not started.
func foldFans(stages []Stage, keep []string) []Stage {
	g := layout.NewGraph(nodes(stages))
	fans := make(map[string][]Stage)
	for i, stage := range stages {
		if stage.kind == plain && (stage.Status == Done || stage.Status == NotStarted) {
			key := fmt.Sprint(g.Needs[i], g.Followers[i], stage.Status)
			fans[key] = append(fans[key], stage)
		}
	}
	into := make(map[string]string)
	for _, fan := range fans {
		if len(fan) > widestFan {
			addFold(into, fan, "\x00fan "+fan[0].ID, keep)
		}
	}
	return contract(stages, into, func(_ string, members []Stage) Stage {
		first, last := members[0], members[len(members)-1]
		f := Stage{Status: first.Status, Start: first.Start, Duration: lastEnd(members) - first.Start}
		f.Name = fmt.Sprintf("%s … %s %c %d", first.Name, last.Name, first.Status.sign(), len(members))
		return f
	})
}

// label is the name of a stage as it is drawn: in ASCII, the signs in the name of a fold become ASCII too.
func (c *canvas) label(s Stage) string {
	if s.kind != fold || !c.ascii {
		return s.Name
	}
	var b strings.Builder
	for _, r := range s.Name {
		b.WriteString(c.drawn(r))
	}
	return b.String()
}
