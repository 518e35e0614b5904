// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/pipedeck/pipedeck/tui/graph/layout"

// crossing is a cell that lines pass: its arms, the trunk of the line in each arm, and the strongest flow.
type crossing struct {
	arms                  arms
	up, right, down, left int
	flow                  flow
}

// strangers reports two straight lines that meet and have nothing to do with each other.
func (c crossing) strangers() bool {
	a := c.arms
	return a.up > 0 && a.down > 0 && a.left > 0 && a.right > 0 && c.up == c.down && c.left == c.right && c.up != c.left
}

// traced holds the lines of all edges in view.
type traced map[layout.Point]crossing

func (t traced) at(x, y int) crossing { return t[layout.Point{X: x, Y: y}] }

// trace lays the edges over each other, the weakest first, so that the strongest owns what they share.
func (b boxes) trace() traced {
	t := make(traced)
	for strength := notYet; strength <= undo; strength++ {
		for _, edge := range b.placed.Edges {
			if b.flow(edge.From, edge.To) != strength {
				continue
			}
			for i, segment := range edge.Segments {
				b.segment(t, segment, strength)
				if i > 0 {
					b.continued(t, edge.Segments[i-1], segment, strength)
				}
			}
		}
	}
	return t
}

// continued closes the step between the piece in a gap and the piece next to the nodes of a layer.
func (b boxes) continued(t traced, before, after layout.Segment, f flow) {
	if before.To != after.From {
		b.segment(t, layout.Segment{From: before.To, To: after.From, Trunk: after.Trunk}, f)
	}
}

func (b boxes) segment(t traced, s layout.Segment, f flow) {
	at := s.From
	dx, dy := sign(s.To.X-at.X), sign(s.To.Y-at.Y)
	for at != s.To {
		b.arm(t, at, layout.Point{X: dx, Y: dy}, s.Trunk, f)
		at.X, at.Y = at.X+dx, at.Y+dy
		b.arm(t, at, layout.Point{X: -dx, Y: -dy}, s.Trunk, f)
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// arm adds the half of a line that leaves a cell to one side.
func (b boxes) arm(t traced, at, to layout.Point, trunk int, f flow) {
	at.Y += b.top
	if b.canvas.at(at.X, at.Y) == nil {
		return
	}
	c := t[at]
	side, owner := &c.arms.right, &c.right
	switch {
	case to.X < 0:
		side, owner = &c.arms.left, &c.left
	case to.Y < 0:
		side, owner = &c.arms.up, &c.up
	case to.Y > 0:
		side, owner = &c.arms.down, &c.down
	}
	*side, *owner, c.flow = max(*side, f.weight()), trunk, max(c.flow, f)
	t[at] = c
}

func (t traced) paint(b boxes) {
	for at, c := range t {
		a := c.arms
		if c.strangers() {
			a.left, a.right = 0, 0
		}
		b.glyph(at.X, at.Y, junction(a, c.flow == notYet), c.flow.role(), c.flow == active)
	}
}
