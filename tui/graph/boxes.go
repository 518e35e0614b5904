// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"time"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	boxHeight  = 4
	boxPort    = 1
	minBox     = 13
	maxBoxName = 16
	// boxFrame is what a box needs besides its name: sides, blanks and the sign.
	boxFrame = 6
)

// Boxes draws a box for each stage, from left to right. The returned layout is the previous one for the next drawing.
// The result is false if the graph is too large for this form.
func Boxes(stages []Stage, o Options) (Picture, layout.Picture, bool) {
	forward, rollback := split(stages)
	c := newCanvas(o.View, o.ASCII)
	p := Picture{}
	placed, ok := boxes{canvas: c, Options: o}.draw(forward, &p, o.Previous)
	if !ok {
		return Picture{}, layout.Picture{}, false
	}
	if len(rollback) > 0 {
		rule := p.Height
		p.Height++
		if !started(rollback) {
			p.Width = max(p.Width, o.View.Width)
			c.rollbackLine(rule, p.Width, rollback)
		} else {
			if _, ok = (boxes{canvas: c, Options: o}).draw(rollback, &p, nil); !ok {
				return Picture{}, layout.Picture{}, false
			}
			c.rollbackRule(rule, p.Width, o.Reverted)
		}
	}
	p.Rows = c.rows
	return p, placed, true
}

// LeastBoxes returns a size that Boxes cannot go below, without drawing.
func LeastBoxes(stages []Stage) layout.Size {
	forward, _ := split(stages)
	layers := make(map[int]int)
	least := layout.Size{}
	for _, layer := range layout.NewGraph(nodes(forward)).Layers() {
		layers[layer]++
		least.Height = max(least.Height, boxHeight*layers[layer])
		least.Width = max(least.Width, minBox+layer*(minBox+layout.MinGap))
	}
	return least
}

// DistinctInBoxes reports whether no two stages look the same where boxes cut their names.
func DistinctInBoxes(stages []Stage) bool {
	seen := make(map[string]bool, len(stages))
	for _, stage := range stages {
		name := text.Cut(text.Line(stage.Name), maxBoxName, "…")
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

type boxes struct {
	*canvas
	Options
	drawing
	placed   layout.Picture
	top      int
	longest  time.Duration
	critical []bool
}

func (b boxes) draw(stages []Stage, p *Picture, previous *layout.Picture) (layout.Picture, bool) {
	b, ok := b.place(stages, p.Height, previous)
	if !ok {
		return b.placed, false
	}
	edges := b.trace()
	edges.paint(b)
	for _, layer := range b.placed.Layers {
		for _, node := range layer {
			if b.stages[node].kind == joint {
				continue
			}
			rect := b.rect(node)
			b.box(node, rect, edges)
			p.Places = append(p.Places, Place{ID: b.stages[node].ID, Rect: rect})
		}
	}
	p.Width = max(p.Width, b.placed.Width)
	p.Height += b.placed.Height
	return b.placed, true
}

// rect is the place of a node in the whole drawing.
func (b boxes) rect(node int) layout.Rect {
	rect := b.placed.Nodes[node]
	rect.Y += b.top
	return rect
}

// place gives each stage and each edge its place, below the row top.
func (b boxes) place(stages []Stage, top int, previous *layout.Picture) (boxes, bool) {
	b.drawing = newDrawing(stages)
	sizes := make([]layout.Size, len(b.stages))
	for i, stage := range b.stages {
		if sizes[i] = (layout.Size{Width: 1, Height: 1}); stage.kind != joint {
			name := min(maxBoxName, text.Width(text.Line(b.canvas.label(stage))))
			sizes[i] = layout.Size{Width: max(minBox, name+boxFrame), Height: boxHeight, Port: boxPort}
		}
		b.longest = max(b.longest, stage.Duration)
	}
	placed, ok := layout.Layered(b.graph, sizes, previous)
	if !ok {
		return b, false
	}
	if len(stages) > 0 && stages[0].Rollback && len(placed.Edges) == 0 {
		b.sideBySide(&placed)
	}
	b.placed, b.top, b.critical = placed, top, b.drawing.critical()
	return b, true
}

// sideBySide puts the stages of a rollback that need nothing of each other in rows as wide as the view.
func (b boxes) sideBySide(placed *layout.Picture) {
	const space = 2
	x, y := 0, 0
	placed.Width = 0
	for i := range placed.Nodes {
		rect := &placed.Nodes[i]
		if x > 0 && x+rect.Width > b.View.Width {
			x, y = 0, y+boxHeight
		}
		rect.X, rect.Y = x, y
		x += rect.Width + space
		placed.Width = max(placed.Width, x-space)
	}
	placed.Height = y + boxHeight
}

// frame is the outline of a box: corners, horizontal, vertical, and the weight of its lines.
type frame struct {
	corners    [4]rune
	across, up rune
	weight     uint8
}

func frameOf(selected bool) frame {
	if selected {
		return frame{corners: [4]rune{'┏', '┓', '┗', '┛'}, across: '━', up: '┃', weight: 2}
	}
	return frame{corners: [4]rune{'╭', '╮', '╰', '╯'}, across: '─', up: '│', weight: 1}
}

func (b boxes) box(node int, rect layout.Rect, edges traced) {
	stage := b.stages[node]
	selected := stage.ID == b.Selected && b.Selected != ""
	role, hot := b.frameRole(stage, selected)
	b.outline(rect, frameOf(selected), role)
	if selected {
		b.selectCells(rect.X+1, rect.Y+1, rect.Width-2)
		b.selectCells(rect.X+1, rect.Y+2, rect.Width-2)
	}
	weight := frameOf(selected).weight
	if len(b.graph.Needs[node]) > 0 {
		a := arms{up: weight, down: weight, left: max(1, edges.at(rect.X, rect.Y+boxPort).arms.left)}
		b.glyph(rect.X, rect.Y+boxPort, junction(a, false), role, false)
	}
	if right := rect.X + rect.Width - 1; len(b.graph.Followers[node]) > 0 {
		a := arms{up: weight, down: weight, right: max(1, edges.at(right, rect.Y+boxPort).arms.right)}
		b.glyph(right, rect.Y+boxPort, junction(a, false), role, false)
	}
	b.words(node, rect, hot, selected)
}

// frameRole is quiet unless the state wants to be seen.
func (b boxes) frameRole(stage Stage, selected bool) (role Role, hot bool) {
	switch {
	case stage.Status.acute():
		return stage.Status.role(), true
	case stage.Rollback:
		return RollbackRole, true
	case selected && stage.Status == NotStarted:
		return Text, false
	case selected:
		return stage.Status.role(), false
	}
	return Border, false
}

func (b boxes) outline(rect layout.Rect, f frame, role Role) {
	right, bottom := rect.X+rect.Width-1, rect.Y+rect.Height-1
	b.glyph(rect.X, rect.Y, f.corners[0], role, false)
	b.glyph(right, rect.Y, f.corners[1], role, false)
	b.glyph(rect.X, bottom, f.corners[2], role, false)
	b.glyph(right, bottom, f.corners[3], role, false)
	for x := rect.X + 1; x < right; x++ {
		b.glyph(x, rect.Y, f.across, role, false)
		b.glyph(x, bottom, f.across, role, false)
	}
	for y := rect.Y + 1; y < bottom; y++ {
		b.glyph(rect.X, y, f.up, role, false)
		b.glyph(right, y, f.up, role, false)
	}
}

// words draws the two lines in a box: sign and name, then duration and bar, or what stands in their place.
func (b boxes) words(node int, rect layout.Rect, hot, selected bool) {
	stage := b.stages[node]
	x, room := rect.X+2, rect.Width-4
	role := Text
	if stage.Status == NotStarted || stage.Status == Skipped || stage.Status == Cancelled {
		role = Dim
	}
	b.glyph(x, rect.Y+1, stage.Status.sign(), stage.Status.role(), true)
	b.text(x+2, rect.Y+1, min(maxBoxName, room-2), b.canvas.label(stage), role, hot || selected)

	role = Dim
	if stage.Status.acute() {
		role = stage.Status.role()
	}
	words := took(stage.Duration)
	switch {
	case stage.Status == Skipped:
		words = "skipped"
	case stage.Status == Cancelled:
		words = "cancelled"
	case stage.Short != "":
		words = stage.Short
	}
	b.text(x, rect.Y+2, room, words, role, false)
	if words == "" || words != took(stage.Duration) {
		return
	}
	used := max(4, len(words)) + 1
	if width := room - used; width >= 3 {
		_, to := halves(0, stage.Duration, b.longest, width)
		role, bold := barStyle(stage, b.critical[node])
		b.canvas.bar(x+used, rect.Y+2, 0, to, role, bold)
	}
}
