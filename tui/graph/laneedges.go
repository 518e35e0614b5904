// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/pipedeck/pipedeck/tui/graph/layout"

// edges draws the lanes of all rows in view.
func (l lanes) edges(placed layout.LanePicture) {
	leaving := make([][]layout.LaneEdge, len(l.stages))
	for _, edge := range placed.Edges {
		leaving[edge.From] = append(leaving[edge.From], edge)
	}
	running := make([]*layout.LaneEdge, placed.Lanes)
	for row, node := range placed.Order {
		if node < 0 {
			continue
		}
		if l.sees(l.top + row) {
			l.row(row, node, placed.Lane[node], running, leaving[node])
		}
		for i, edge := range running {
			if edge != nil && edge.To == node {
				running[i] = nil
			}
		}
		for i := range leaving[node] {
			running[leaving[node][i].Lane] = &leaving[node][i]
		}
	}
}

// laneRow is what the lanes of one row do. A lane without an edge has the flow -1.
type laneRow struct {
	own             int
	in, out, passes []int
}

func (l lanes) row(row, node, own int, running []*layout.LaneEdge, leaving []layout.LaneEdge) {
	r := laneRow{own: own, in: noFlows(len(running)), out: noFlows(len(running)), passes: noFlows(len(running))}
	low, high := own, own
	for i, edge := range running {
		switch {
		case edge == nil:
		case edge.To == node:
			r.in[i] = int(l.flow(edge.From, node))
			low, high = min(low, i), max(high, i)
		default:
			r.passes[i] = int(l.flow(edge.From, edge.To))
		}
	}
	for _, edge := range leaving {
		r.out[edge.Lane] = int(l.flow(node, edge.To))
		low, high = min(low, edge.Lane), max(high, edge.Lane)
	}
	y := l.top + row
	for i := 0; i < min(l.shown, len(running)); i++ {
		l.laneCell(r, i, y, low, high)
		if low <= i && i < high {
			f := r.beyond(i)
			l.glyph(2+2*i, y, junction(arms{right: f.weight(), left: f.weight()}, f == notYet), f.role(), f == active)
		}
	}
	sign, role := l.stages[node].Status.sign(), l.stages[node].Status.role()
	if l.stages[node].kind == joint {
		sign, role = '•', Border
	}
	if own < l.shown {
		l.glyph(1+2*own, y, sign, role, true)
	} else {
		l.glyph(2*l.shown, y, sign, role, true) // its lane has no room
	}
}

func noFlows(n int) []int {
	flows := make([]int, n)
	for i := range flows {
		flows[i] = -1
	}
	return flows
}

// beyond is the flow of the horizontal line right of lane i: the strongest edge that it leads to.
func (r laneRow) beyond(i int) flow {
	from, to := 0, i+1
	if i >= r.own {
		from, to = i+1, len(r.in)
	}
	strongest := int(notYet)
	for lane := from; lane < to; lane++ {
		strongest = max(strongest, r.in[lane], r.out[lane])
	}
	return flow(strongest)
}

func (l lanes) laneCell(r laneRow, i, y, low, high int) {
	x := 1 + 2*i
	weight := func(f int) uint8 {
		if f < 0 {
			return 0
		}
		return flow(f).weight()
	}
	switch {
	case i == r.own:
	case r.passes[i] >= 0:
		f := flow(r.passes[i])
		l.glyph(x, y, junction(arms{up: f.weight(), down: f.weight()}, f == notYet), f.role(), f == active)
	case r.in[i] >= 0 || r.out[i] >= 0:
		a := arms{up: weight(r.in[i]), down: weight(r.out[i])}
		if i > low {
			a.left = r.beyond(i - 1).weight()
		}
		if i < high {
			a.right = r.beyond(i).weight()
		}
		f := flow(max(r.in[i], r.out[i]))
		l.glyph(x, y, junction(a, false), f.role(), f == active)
	case low < i && i < high:
		f := r.beyond(i)
		l.glyph(x, y, junction(arms{right: f.weight(), left: f.weight()}, f == notYet), f.role(), f == active)
	}
}
