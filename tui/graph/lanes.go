// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"github.com/pipedeck/pipedeck/tui/graph/layout"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	maxLaneName  = 28
	durationCols = 7
	minBar       = 8
	maxBar       = 24
	// leastName is how many columns of a name stay, however many lanes there are.
	leastName = 12
)

// Lanes draws one row for each stage, with its needs and followers as lines next to it: a line from above is a need, a
// line to below is a follower.
func Lanes(stages []Stage, o Options) Picture {
	forward, rollback := split(stages)
	c := newCanvas(o.View, o.ASCII)
	p := Picture{Width: max(0, o.View.Width)}
	lanes{canvas: c, Options: o}.draw(forward, &p)
	switch {
	case len(rollback) == 0:
	case started(rollback):
		c.rollbackRule(p.Height, p.Width, o.Reverted)
		p.Height++
		lanes{canvas: c, Options: o}.draw(rollback, &p)
	default:
		c.rollbackLine(p.Height, p.Width, rollback)
		p.Height++
	}
	p.Rows = c.rows
	return p
}

// Order returns the ids of the stages as they stand in lanes from the top down, those of the rollback last.
func Order(stages []Stage) []string {
	var ids []string
	forward, rollback := split(stages)
	for _, part := range [][]Stage{forward, rollback} {
		d := newDrawing(part)
		for _, node := range layout.Lanes(d.graph).Order {
			if node >= 0 && d.stages[node].kind != joint {
				ids = append(ids, d.stages[node].ID)
			}
		}
	}
	return ids
}

type lanes struct {
	*canvas
	Options
	drawing
	top, width int
	// shown is how many lanes have room; name and bar are the widths of those columns.
	shown, name, bar int
	critical         []bool
}

func (l lanes) draw(stages []Stage, p *Picture) {
	if len(stages) == 0 {
		return
	}
	l.drawing = newDrawing(stages)
	placed := layout.Lanes(l.graph)
	l.top, l.width = p.Height, p.Width
	l.critical = l.drawing.critical()
	l.measure(placed.Lanes)
	l.edges(placed)
	for row, node := range placed.Order {
		if node < 0 || l.stages[node].kind == joint {
			continue
		}
		l.describe(node, row)
		p.Places = append(p.Places, Place{ID: l.stages[node].ID, Rect: layout.Rect{
			Y: l.top + row, Width: p.Width, Height: 1,
		}})
	}
	p.Height += len(placed.Order)
}

// measure divides the width: lanes, name, duration, time axis, note.
func (l *lanes) measure(count int) {
	for _, stage := range l.stages {
		if stage.kind != joint {
			l.name = max(l.name, min(maxLaneName, text.Width(text.Line(l.canvas.label(stage)))))
		}
	}
	l.shown = min(count, max(1, (l.width-leastName-2)/2))
	l.name = min(l.name, max(0, l.width-l.nameColumn()), max(leastName, l.width*2/5)) // the notes need room, too
	l.bar = l.Bar
	if l.bar == 0 {
		l.bar = min(maxBar, (l.width-l.barColumn())*3/8)
	}
	if l.bar < minBar {
		l.bar = 0
	}
}

func (l *lanes) nameColumn() int { return 2*l.shown + 2 }

func (l *lanes) barColumn() int { return l.nameColumn() + l.name + 1 + durationCols + 1 }

// describe draws the row of a stage right of the lanes.
func (l lanes) describe(node, row int) {
	stage, y := l.stages[node], l.top+row
	if !l.sees(y) {
		return
	}
	selected := stage.ID == l.Selected && l.Selected != ""
	role := Text
	if stage.Status == NotStarted || stage.Status == Skipped || stage.Status == Cancelled {
		role = Dim
	}
	x := l.nameColumn()
	l.text(x, y, l.name, l.canvas.label(stage), role, selected || stage.Status.acute())
	x += l.name + 1
	d := took(stage.Duration)
	role = Dim
	if stage.Status.acute() {
		role = stage.Status.role()
	}
	if x+durationCols <= l.width {
		l.text(x+durationCols-len(d), y, len(d), d, role, false)
	}
	x = l.barColumn()
	if l.bar > 0 {
		if stage.Duration > 0 {
			from, to := halves(stage.Start, stage.Duration, total(l.stages), l.bar)
			role, bold := barStyle(stage, l.critical[node])
			l.canvas.bar(x, y, from, to, role, bold)
		}
		x += l.bar + 1
	}
	role = Dim
	if stage.Status.acute() {
		role = stage.Status.role()
	}
	l.text(x, y, l.width-x, stage.Note, role, false)
	if selected {
		l.selectCells(0, y, l.width)
		l.glyph(0, y, '▌', stage.Status.role(), true)
	}
}
