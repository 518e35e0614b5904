// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"

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

// Graph is the drawing of the stages of a deployment.
type Graph struct {
	// Form is Lanes or Boxes.
	Form Form
	// Stages are those drawn; some may be folds.
	Stages []graph.Stage
	// Picture has the rows in view.
	Picture graph.Picture
	// All are the stages without folds.
	All []graph.Stage
}

const (
	// foldAhead is how many layers after the last that has started stay open.
	foldAhead = 1
	// mapRows is the height of the map with the blank line above it, mapFrom the least height that leaves room for it.
	mapRows = 4
	mapFrom = 12
)

// Graph draws the stages into width columns and height rows.
func (v Deployment) Graph(width, height int) Graph {
	g := Graph{Form: v.Form, All: stagesOf(v.Deployment, v.Now)}
	size := v.choose(&g, width, height)
	o := v.options(width)
	o.View = v.part(size, o.Selected, width, height)
	if g.Form == Boxes {
		o.View.X-- // a blank column at the left, as in lanes
	}
	g.Picture = g.draw(o)
	return g
}

// choose sets the form and the stages that are drawn. It returns a picture with their places.
func (v Deployment) choose(g *Graph, width, height int) graph.Picture {
	if g.Form == Fitting {
		g.Form = fitting(g.All, width, height)
	}
	g.Stages = g.All
	size := g.draw(v.options(width))
	if (size.Height > height || g.Form == Boxes && size.Width+2 > width) && !v.Unfolded {
		keep := v.Open[:len(v.Open):len(v.Open)]
		if v.Fold == "" {
			keep = append(keep, v.Stage) // nothing is folded around the cursor
		}
		g.Stages = graph.Fold(g.All, foldAhead, keep...)
		size = g.draw(v.options(width))
	}
	return size
}

// FoldOver returns the fold that hides the selected stage when all is folded, or "".
func (v Deployment) FoldOver() string {
	return graph.FoldOf(stagesOf(v.Deployment, v.Now), foldAhead, v.Stage)
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

// fitting is the form for a pane. It depends on no status, so that the form stays while the deployment runs.
func fitting(stages []graph.Stage, width, height int) Form {
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
func (v Deployment) part(size graph.Picture, selected string, width, height int) graph.View {
	part := graph.View{Width: width, Height: height}
	for _, place := range size.Places {
		if place.ID == selected {
			part.Y = max(0, min(place.Y+place.Height/2-height/2, size.Height-height))
			part.X = max(0, min(place.X+place.Width/2-width/2, size.Width+2-width))
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
	room := height
	g := v.Graph(width, room)
	whole := g.Picture.Height <= height && (g.Form == Lanes || g.Picture.Width+2 <= width)
	if !whole && height >= mapFrom {
		room = height - mapRows
		g = v.Graph(width, room)
	}
	lines = cellLines(v.Theme, g.Picture.Rows)
	if whole {
		return lines[:min(len(lines), g.Picture.Height)], g.Form
	}
	if room == height {
		return lines, g.Form
	}
	return append(append(lines, ""), v.mapLines(g, width, room)...), g.Form
}

// mapLines draws all layers small, with a line under those in view.
func (v Deployment) mapLines(g Graph, width, height int) []string {
	seen := make(map[string]bool)
	view := v.part(g.Picture, v.selected(), width, height)
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
