// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/view"
)

// maxDetails bounds the deployments whose details are kept; others are made again when a stream asks.
const maxDetails = 64

// detail is what streams get of a deployment that is selected, as long as it is as it was.
type detail struct {
	of *deckv1.Deployment
	// ahead is the id of the one for which it waits.
	ahead       string
	environment *deckv1.Environment
	// drawnAt is the version of what is drawn of its stages.
	drawnAt int
	body    *body
}

// detail returns what is sent of a deployment now: the same value while that does not change.
func (h *hub) detail(id string) *detail {
	d, environment := h.deck.Deployment(id), h.deck.Environment()
	ahead := h.deck.Ahead(d)
	drawn, drawnAt := h.drawnOf(id)
	known := h.details[id]
	if known != nil && known.of == d && known.ahead == ahead.GetId() && known.environment == environment &&
		known.drawnAt == drawnAt {
		return known
	}
	if known == nil && len(h.details) >= maxDetails {
		clear(h.details)
	}
	made := &detail{of: d, ahead: ahead.GetId(), environment: environment, drawnAt: drawnAt}
	if d == nil {
		made.body = newBody(Detail{ID: id, Missing: true})
	} else {
		made.body = newBody(newDetail(d, ahead, environment, drawn, h.now()))
	}
	h.details[id] = made
	return made
}

func newDetail(d, ahead *deckv1.Deployment, environment *deckv1.Environment, runs drawn, now time.Time) Detail {
	summary := newSummary(d, ahead)
	detail := Detail{ID: d.GetId(), Deployment: &summary, Charts: runs.charts, Planned: runs.planned}
	byID := map[string]*deckv1.Stage{}
	for _, s := range d.GetStages() {
		byID[s.GetId()] = s
	}
	drawn := view.GraphStages(d, environment, view.Keys{}, now)
	for _, g := range drawn {
		s := byID[g.ID]
		shown := Stage{Stage: document.NewStage(d, s), Label: g.Name, Look: g.Status.Word(), Short: g.Short,
			Note: g.Note, TookSeconds: state.StageTook(s, now).Seconds(), At: document.Moment(now)}
		shown.Ticks = s.GetStartedAt().IsValid() && !state.StageEnded(s.GetStatus()) && !state.Paused(s)
		detail.Stages = append(detail.Stages, shown)
	}
	detail.Graph = newGraph(drawn, d.GetRunningCommit())
	return detail
}

// rollbackWidth is the room of the stages of a rollback that need nothing of each other, in cells: they stand side by
// side.
const rollbackWidth = 100

// newGraph is the drawing of the stages; nil without any, and for too many.
func newGraph(stages []graph.Stage, runningCommit string) *Graph {
	plan, ok := graph.PlanBoxes(stages, graph.Options{View: graph.View{Width: rollbackWidth}})
	if !ok || len(stages) == 0 {
		return nil
	}
	g := &Graph{Width: plan.Width, Height: plan.Height, Nodes: []Node{}, Edges: []Edge{}}
	for _, n := range plan.Nodes {
		g.Nodes = append(g.Nodes, Node{nodeID(n.ID), n.X, n.Y, n.Width, n.Height, n.Joint})
	}
	for _, e := range plan.Edges {
		edge := Edge{From: nodeID(e.From), To: nodeID(e.To), Flow: e.Flow}
		for _, s := range e.Segments {
			edge.Lines = append(edge.Lines, [4]int{s.From.X, s.From.Y, s.To.X, s.To.Y})
		}
		g.Edges = append(g.Edges, edge)
	}
	if plan.Rule >= 0 {
		g.Rollback = &Rollback{Y: plan.Rule, Began: plan.RollbackBegan, To: runningCommit, Stages: []string{}}
		for _, s := range stages {
			if s.Rollback {
				g.Rollback.Stages = append(g.Rollback.Stages, s.Name)
			}
		}
	}
	return g
}

// nodeID is an id without the control characters in those of joints.
func nodeID(id string) string { return pluginID(id) }
