// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// drawing is what a form works on: stages with their joints, and the graph of the same order.
type drawing struct {
	stages []Stage
	graph  layout.Graph
}

func newDrawing(stages []Stage) drawing {
	d := drawing{stages: stages, graph: layout.NewGraph(nodes(stages))}
	if with := d.withJoints(); len(with) > len(stages) {
		d = drawing{stages: with, graph: layout.NewGraph(nodes(with))}
	}
	return d
}

func nodes(stages []Stage) []layout.Node {
	nodes := make([]layout.Node, len(stages))
	for i, stage := range stages {
		nodes[i] = layout.Node{ID: stage.ID, Needs: stage.Needs}
	}
	return nodes
}

// withJoints adds a nameless node wherever several stages need the same several stages.
func (d drawing) withJoints() []Stage {
	sharing := make(map[string][]int)
	for i, needs := range d.graph.Needs {
		if len(needs) > 1 {
			key := fmt.Sprint(slices.Sorted(slices.Values(needs)))
			sharing[key] = append(sharing[key], i)
		}
	}
	result := make([]Stage, 0, len(d.stages))
	made := make(map[string]string)
	for i, stage := range d.stages {
		needs := d.graph.Needs[i]
		key := fmt.Sprint(slices.Sorted(slices.Values(needs)))
		if len(sharing[key]) > 1 {
			id, exists := made[key]
			if !exists {
				j := d.joint(needs)
				id = j.ID
				made[key] = id
				result = append(result, j)
			}
			stage.Needs = []string{id}
		}
		result = append(result, stage)
	}
	return result
}

// joint needs the given stages. Its id cannot be that of a stage: those are cleaned of control characters.
func (d drawing) joint(needs []int) Stage {
	j := Stage{kind: joint, Status: Done}
	for _, need := range needs {
		j.Needs = append(j.Needs, d.stages[need].ID)
		j.Rollback = j.Rollback || d.stages[need].Rollback
		if !d.stages[need].Status.met() {
			j.Status = NotStarted
		}
	}
	j.ID = "\x00joint " + strings.Join(j.Needs, "\x00")
	return j
}

// flow is the state of an edge; one into a joint takes the state of what follows the joint.
func (d drawing) flow(from, to int) flow {
	if d.stages[to].kind != joint {
		return edgeFlow(d.stages[from], d.stages[to])
	}
	strongest := notYet
	for _, follower := range d.graph.Followers[to] {
		strongest = max(strongest, edgeFlow(d.stages[from], d.stages[follower]))
	}
	return strongest
}
