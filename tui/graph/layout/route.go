// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"slices"
)

// trunk is the line in the gap right of a layer that the edges of its sources share: sources with the same targets
// share one. A trunk that no single channel can hold without a false junction bends at a free row: left then holds
// its part from the sources, and the trunk itself the part from there to the targets.
type trunk struct {
	sources, targets []int
	low, high        int
	channel          int
	left             *trunk
	bend             int
}

func (t *trunk) spans(row int) { t.low, t.high = min(t.low, row), max(t.high, row) }

func newTrunk() *trunk { return &trunk{low: int(^uint(0) >> 1), high: -1} }

// route sets the columns of the nodes and the edges of the picture.
func route(g Graph, p *places, sizes []Size, rows []int, result *Picture) {
	c := column{places: p, sizes: sizes, rows: rows}
	gaps := make([]gap, max(0, len(p.layers)-1))
	left := make([]int, len(p.layers))
	width := make([]int, len(p.layers))
	for k, layer := range p.layers {
		if k > 0 {
			gaps[k-1] = newGap(c, p.layers[k-1], layer, result.Height)
			left[k] = left[k-1] + width[k-1] + max(MinGap, 2*gaps[k-1].channels+1)
		}
		width[k] = 1
		for _, place := range layer {
			if !p.isDummy(place) {
				width[k] = max(width[k], sizes[place].Width)
			}
		}
		for _, place := range layer {
			if !p.isDummy(place) {
				result.Nodes[place] = Rect{X: left[k], Y: rows[place], Width: width[k], Height: sizes[place].Height}
			}
		}
		result.Width = left[k] + width[k]
	}
	r := router{column: c, left: left, width: width, gaps: gaps, number: make(map[*trunk]int)}
	for source, followers := range g.Followers {
		for i, target := range followers {
			edge := Edge{From: source, To: target}
			if sizes[source].Height == 1 { // a point: its line runs through the layer
				edge.Segments = r.across(edge.Segments, source)
			}
			at := source
			for _, dummy := range p.route[source][i] {
				edge.Segments = r.across(r.through(edge.Segments, at, dummy), dummy)
				at = dummy
			}
			edge.Segments = r.through(edge.Segments, at, target)
			result.Edges = append(result.Edges, edge)
		}
	}
}

type router struct {
	column
	left, width []int
	gaps        []gap
	number      map[*trunk]int
}

// across adds the piece of an edge next to the nodes of a layer.
func (r router) across(segments []Segment, place int) []Segment {
	k, y := r.layer[place], r.port(place)
	return append(segments, Segment{
		From: Point{r.left[k], y}, To: Point{r.left[k] + r.width[k] - 1, y}, Trunk: -1 - place,
	})
}

// through adds the piece of an edge in the gap between two places.
func (r router) through(segments []Segment, from, to int) []Segment {
	k := r.layer[from]
	t := r.gaps[k].trunk[from]
	if _, numbered := r.number[t]; !numbered {
		r.number[t] = len(r.number)
	}
	start := Point{r.left[k] + r.width[k] - 1, r.port(from)}
	end := Point{r.left[k+1], r.port(to)}
	channel := func(t *trunk) int { return r.left[k] + r.width[k] + 1 + 2*t.channel }
	bends := []Point{start}
	switch {
	case t.left != nil:
		a, b := channel(t.left), channel(t)
		bends = append(bends, Point{a, start.Y}, Point{a, t.bend}, Point{b, t.bend}, Point{b, end.Y})
	case t.low < t.high:
		x := channel(t)
		bends = append(bends, Point{x, start.Y}, Point{x, end.Y})
	}
	bends = append(bends, end)
	for i := 1; i < len(bends); i++ {
		if bends[i] != bends[i-1] {
			segments = append(segments, Segment{From: bends[i-1], To: bends[i], Trunk: r.number[t]})
		}
	}
	return segments
}

// gap is the room between two layers.
type gap struct {
	trunk    map[int]*trunk
	channels int
}

func newGap(c column, layer, next []int, height int) gap {
	g := gap{trunk: make(map[int]*trunk, len(layer)), channels: 1}
	same := make(map[string]*trunk)
	var trunks []*trunk
	for _, source := range layer {
		if len(c.down[source]) == 0 {
			continue
		}
		targets := slices.Sorted(slices.Values(c.down[source]))
		key := make([]byte, 0, 3*len(targets))
		for _, target := range targets {
			key = append(key, byte(target), byte(target>>8), byte(target>>16))
		}
		t := same[string(key)]
		if t == nil {
			t = newTrunk()
			same[string(key)] = t
			trunks = append(trunks, t)
			for _, target := range targets {
				t.targets = append(t.targets, c.port(target))
				t.spans(c.port(target))
			}
		}
		t.sources = append(t.sources, c.port(source))
		t.spans(c.port(source))
		g.trunk[source] = t
	}
	upright := slices.DeleteFunc(trunks, func(t *trunk) bool { return t.low == t.high })
	slices.SortStableFunc(upright, func(a, b *trunk) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high))
	})
	ports := make(map[int]bool)
	for _, place := range slices.Concat(layer, next) {
		ports[c.port(place)] = true
	}
	channels := channels{ports: ports, height: height}
	for _, t := range channels.assign(upright) {
		g.channels = max(g.channels, t.channel+1)
	}
	return g
}
