// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// Size is the extent of a node. Port is the row, from the top, at which its edges leave and arrive.
type Size struct{ Width, Height, Port int }

// Rect is the place of a node.
type Rect struct{ X, Y, Width, Height int }

// Point is a cell.
type Point struct{ X, Y int }

// Segment is a straight piece of an edge. Segments of one trunk are drawn as one line that branches; segments of
// different trunks that meet are a crossing of strangers, unless their edges have an end in common.
type Segment struct {
	From, To Point
	Trunk    int
}

// Edge is the way from a node to its follower.
type Edge struct {
	From, To int
	Segments []Segment
}

// Picture is a layered drawing from left to right.
type Picture struct {
	Width, Height int
	// Nodes holds the place of each node; all nodes of a layer are as wide as its widest.
	Nodes []Rect
	// Edges are in the order of their sources, then of their targets.
	Edges []Edge
	// Layers holds the nodes of each layer from the top down.
	Layers [][]int
	// Crossings counts the pairs of edges that cross between two layers.
	Crossings int

	order order
}

// MinGap is the least room between two layers.
const MinGap = 3

// Layered places g, whose nodes have the given sizes. A node stands one layer right of the last of its needs;
// edges run from the right side of a node to the left side of its follower. previous is the picture of the same
// pipeline before a change, or nil: its order is kept where it causes no crossing that another order avoids, and kept
// whole if the needs are the same. The result is false if g is too large to be drawn like this.
func Layered(g Graph, sizes []Size, previous *Picture) (Picture, bool) {
	all, ok := newPlaces(g)
	if !ok {
		return Picture{}, false
	}
	result := Picture{Nodes: make([]Rect, len(g.Needs)), order: order{ids: all.keys(g)}}
	rows := make([]int, len(all.layer))
	layers := make([][]int, len(all.layers))
	top := 0
	for _, component := range g.Components() {
		part := all.restrict(component)
		s := newSorter(part)
		if previous == nil || !s.startFrom(result.order.ids, previous.order) {
			s.reduce()
		}
		result.Crossings += s.crossings()
		top = placeRows(part, sizes, rows, top)
		for k, layer := range part.layers {
			layers[k] = append(layers[k], layer...)
		}
	}
	all.layers = layers
	result.order.rank = make(map[string]int, len(rows))
	for _, layer := range layers {
		var nodes []int
		for i, place := range layer {
			result.order.rank[result.order.ids[place]] = i
			if !all.isDummy(place) {
				nodes = append(nodes, place)
			}
		}
		result.Layers = append(result.Layers, nodes)
	}
	result.Height = top
	route(g, all, sizes, rows, &result)
	return result, true
}

// restrict returns the same places with the layers of one component only.
func (p *places) restrict(component []int) *places {
	member := make([]bool, p.nodes)
	for _, node := range component {
		member[node] = true
	}
	part := *p
	part.layers = make([][]int, len(p.layers))
	for k, layer := range p.layers {
		for _, place := range layer {
			if member[p.source[place]] {
				part.layers[k] = append(part.layers[k], place)
			}
		}
	}
	return &part
}
