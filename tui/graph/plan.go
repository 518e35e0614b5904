// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/pipedeck/pipedeck/tui/graph/layout"

// Plan is the drawing of Boxes without cells: others draw the same with other means. Its units are cells.
type Plan struct {
	Width, Height int
	// Nodes are the stages and the joints: points at which edges of several stages meet.
	Nodes []PlanNode
	Edges []PlanEdge
	// Rule is the row of the line above the stages of a rollback, or of the line that names them before it begins; -1
	// without such stages. RollbackBegan distinguishes the two.
	Rule          int
	RollbackBegan bool
}

// PlanNode is a node with its place.
type PlanNode struct {
	Place
	Joint bool
}

// PlanEdge is the way between two nodes, which the segments connect. Flow is not_yet, passed, active or undo.
type PlanEdge struct {
	From, To string
	Flow     string
	Segments []layout.Segment
}

// flowWords are the states of an edge for other programs.
var flowWords = [...]string{notYet: "not_yet", passed: "passed", active: "active", undo: "undo"}

// PlanBoxes returns what Boxes draws with the same options. The result is false where Boxes refuses the graph.
func PlanBoxes(stages []Stage, o Options) (Plan, bool) {
	forward, rollback := split(stages)
	plan, c := Plan{Rule: -1}, newCanvas(View{}, o.ASCII)
	b, ok := (boxes{canvas: c, Options: o}).place(forward, 0, o.Previous)
	if !ok {
		return Plan{}, false
	}
	plan.add(b)
	if len(rollback) == 0 {
		return plan, true
	}
	plan.Rule = plan.Height
	plan.Height++
	if plan.RollbackBegan = started(rollback); !plan.RollbackBegan {
		return plan, true
	}
	if b, ok = (boxes{canvas: c, Options: o}).place(rollback, plan.Height, nil); !ok {
		return Plan{}, false
	}
	plan.add(b)
	return plan, true
}

// add takes what was placed below the rest.
func (p *Plan) add(b boxes) {
	for i, stage := range b.stages {
		p.Nodes = append(p.Nodes, PlanNode{Place{ID: stage.ID, Rect: b.rect(i)}, stage.kind == joint})
	}
	for _, e := range b.placed.Edges {
		edge := PlanEdge{From: b.stages[e.From].ID, To: b.stages[e.To].ID, Flow: flowWords[b.flow(e.From, e.To)]}
		for _, s := range e.Segments {
			s.From.Y += b.top
			s.To.Y += b.top
			edge.Segments = append(edge.Segments, s)
		}
		p.Edges = append(p.Edges, edge)
	}
	p.Width = max(p.Width, b.placed.Width)
	p.Height += b.placed.Height
}

// Word is the name of a status for other programs: not_started, running, waiting, done, failed, skipped or cancelled.
func (s Status) Word() string {
	return [...]string{"not_started", "running", "waiting", "done", "failed", "skipped", "cancelled"}[s]
}
