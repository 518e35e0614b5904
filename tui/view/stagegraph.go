// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/graph"
)

// Form is how the stages of a deployment are drawn.
type Form uint8

const (
	// Fitting draws boxes where the whole graph fits, else lanes.
	Fitting Form = iota
	Lanes
	Boxes
)

func (f Form) String() string { return [...]string{"fitting", "lanes", "boxes"}[f] }

// Graph is how the stages of a deployment are placed in a pane.
type Graph struct {
	// Form is Lanes or Boxes.
	Form Form
	// All are the stages without folds, Stages those drawn, some of which may be folds.
	All, Stages []graph.Stage
	// Picture has the size and the places of Stages, but no cells.
	Picture graph.Picture
}

// GraphMemo keeps the last graphs and their lines, because a frame asks for the same several times and most frames have
// the graph of the frame before. It holds those of one deployment and one selection. Its zero value is empty. Its owner
// empties it when the theme changes.
type GraphMemo struct {
	of graphKey
	// ordered and stages are those of the deployment.
	ordered []*deckv1.Stage
	stages  []graph.Stage
	graphs  map[[2]int]Graph
	lines   map[[2]int][]string
}

// graphKey is what a graph depends on besides its size and the durations of its stages. A deployment that changes is
// another object.
type graphKey struct {
	deployment  *deckv1.Deployment
	stage, fold string
	form        Form
	unfolded    bool
	opened      string
	held        string
	// environment has the breakpoints.
	environment *deckv1.Environment
}

// maxSizes bounds the sizes in a memo; a frame asks for a few.
const maxSizes = 16

// fit empties the memo when it belongs to another graph or when a duration has changed.
func (m *GraphMemo) fit(v Deployment) {
	of := graphKey{v.Deployment, v.Stage, v.Fold, v.Form, v.Unfolded, strings.Join(v.Open, "\n"),
		v.heldStages(), v.Environment}
	if m.graphs == nil || m.of.deployment != of.deployment || m.of.held != of.held ||
		m.of.environment != of.environment {
		m.ordered, m.stages = byIndex(v.Deployment), v.drawn()
	} else if !m.ticked(v) && m.of == of && len(m.graphs) < maxSizes {
		return
	}
	m.of, m.graphs, m.lines = of, make(map[[2]int]Graph), make(map[[2]int][]string)
}

// ticked brings the durations of the stages up to date; it reports whether one has changed.
func (m *GraphMemo) ticked(v Deployment) bool {
	changed := false
	for i, s := range m.ordered {
		start, duration := timesOf(v.Deployment, s, v.Now)
		if m.stages[i].Start == start && m.stages[i].Duration == duration {
			continue
		}
		if !changed {
			changed, m.stages = true, slices.Clone(m.stages) // graphs have the former ones
		}
		m.stages[i].Start, m.stages[i].Duration = start, duration
	}
	return changed
}

const (
	// foldAhead is how many layers after the last that has started stay open.
	foldAhead = 1
	// mapRows is the height of the map with the blank line above it, mapFrom the least height that leaves room for it.
	mapRows = 4
	mapFrom = 12
)

// Graph places the stages in width columns and height rows; the graph may be larger.
func (v Deployment) Graph(width, height int) Graph {
	if v.Memo == nil {
		return v.place(width, height)
	}
	v.Memo.fit(v)
	size := [2]int{width, height}
	g, known := v.Memo.graphs[size]
	if !known {
		g = v.place(width, height)
		v.Memo.graphs[size] = g
	}
	return g
}

// stages are those of the deployment, ready to be drawn.
func (v Deployment) stages() []graph.Stage {
	if v.Memo == nil {
		return v.drawn()
	}
	v.Memo.fit(v)
	return v.Memo.stages
}

// place chooses the form and the stages that are drawn.
func (v Deployment) place(width, height int) Graph {
	g := Graph{Form: v.Form, All: v.stages()}
	if g.Form == Fitting {
		g.Form = fitting(g.All, width, height)
	}
	g.Stages = g.All
	g.Picture = g.draw(v.options(width))
	if !v.Unfolded && !g.fits(width, height) {
		keep := v.Open[:len(v.Open):len(v.Open)]
		if v.Fold == "" {
			keep = append(keep, v.Stage) // nothing is folded around the cursor
		}
		g.Stages = graph.Fold(g.All, foldAhead, keep...)
		g.Picture = g.draw(v.options(width))
	}
	return g
}

// extent is the width of the boxes. That of the picture includes the line of a rollback, which is as wide as the view.
func (g Graph) extent() int {
	width := 0
	for _, place := range g.Picture.Places {
		width = max(width, place.X+place.Width)
	}
	return width
}

// fits reports whether the whole graph is in view.
func (g Graph) fits(width, height int) bool {
	return g.Picture.Height <= height && (g.Form == Lanes || g.extent()+2 <= width)
}

// FoldOver returns the fold that hides the selected stage when all is folded, or "".
func (v Deployment) FoldOver() string {
	return graph.FoldOf(v.stages(), foldAhead, v.Stage)
}

func (v Deployment) options(width int) graph.Options {
	return graph.Options{Selected: v.selected(), ASCII: v.Theme.ASCII, View: graph.View{Width: width},
		Reverted: shortHash(v.Deployment.GetRunningCommit())}
}

// draw falls back to lanes where a graph is too large for boxes.
func (g *Graph) draw(o graph.Options) graph.Picture {
	if g.Form == Boxes {
		if picture, _, ok := graph.Boxes(g.Stages, o); ok {
			return picture
		}
		g.Form = Lanes
	}
	return graph.Lanes(g.Stages, o)
}

// fitting is the form for a pane. It depends on no status, so that the form stays while the deployment runs. Boxes have
// less room for names and none for notes: a stage alone and names that would look the same are lanes.
func fitting(stages []graph.Stage, width, height int) Form {
	if len(stages) == 1 || !graph.DistinctInBoxes(stages) {
		return Lanes
	}
	if graph.LeastBoxes(stages).Width > width || graph.LeastBoxes(stages).Height > height {
		return Lanes // without the effort of placing them
	}
	still := make([]graph.Stage, len(stages))
	for i, stage := range stages {
		stage.Status = graph.NotStarted
		still[i] = stage
	}
	picture, _, ok := graph.Boxes(still, graph.Options{})
	if ok && picture.Width+2 <= width && picture.Height <= height {
		return Boxes
	}
	return Lanes
}

// part is what is in view of a drawing: the selection stands in the middle where not everything fits.
func (v Deployment) part(g Graph, width, height int) graph.View {
	part := graph.View{Width: width, Height: height}
	wide := g.Picture.Width
	if g.Form == Boxes {
		wide = g.extent()
	}
	for _, place := range g.Picture.Places {
		if place.ID == v.selected() {
			part.Y = max(0, min(place.Y+place.Height/2-height/2, g.Picture.Height-height))
			part.X = max(0, min(place.X+place.Width/2-width/2, wide+2-width))
		}
	}
	return part
}

// selected is the fold on which the cursor is, or the stage.
func (v Deployment) selected() string {
	if v.Fold != "" {
		return v.Fold
	}
	return v.Stage
}

// graphLines draws the stages and, where they do not fit, a map below them.
func (v Deployment) graphLines(width, height int) (lines []string, form Form) {
	g := v.Graph(width, height)
	if v.Memo == nil {
		return v.linesOf(g, width, height), g.Form
	}
	size := [2]int{width, height}
	lines, known := v.Memo.lines[size]
	if !known {
		lines = slices.Clip(v.linesOf(g, width, height)) // what is appended to them does not go into the memo
		v.Memo.lines[size] = lines
	}
	return lines, g.Form
}

func (v Deployment) linesOf(g Graph, width, height int) []string {
	room := height
	mapped := !g.fits(width, height) && height >= mapFrom
	if mapped {
		room -= mapRows
	}
	o := v.options(width)
	o.View = v.part(g, width, room)
	if g.Form == Boxes {
		o.View.X-- // a blank column at the left, as in lanes
	}
	lines := cellLines(v.Theme, g.draw(o).Rows)
	if mapped {
		return append(append(lines, ""), v.mapLines(g, width, room)...)
	}
	return lines[:min(len(lines), g.Picture.Height)]
}

// mapLines draws all layers small, with a line under those in view.
func (v Deployment) mapLines(g Graph, width, height int) []string {
	seen := make(map[string]bool)
	view := v.part(g, width, height)
	for _, place := range g.Picture.Places {
		seen[place.ID] = place.Y < view.Y+view.Height && place.Y+place.Height > view.Y &&
			(g.Form == Lanes || place.X < view.X+view.Width && place.X+place.Width > view.X)
	}
	picture := graph.Map(g.All, func(id string) bool { return seen[id] },
		graph.Options{View: graph.View{Width: max(0, width-1), Height: mapRows - 1}, ASCII: v.Theme.ASCII})
	lines := cellLines(v.Theme, picture.Rows)
	for i, line := range lines {
		lines[i] = " " + strings.TrimRight(line, " ")
	}
	return lines
}
