// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// places are what stands in the layers: the nodes by their position, then the dummies, one for each layer that an
// edge passes. The edges of one source share their dummies.
type places struct {
	nodes int
	layer []int
	// source is the node itself, or the node whose edges pass the dummy.
	source []int
	// layers holds the places of each layer in drawing order.
	layers [][]int
	// up and down hold the places next to a place in the layers before and after; weight counts the edges that
	// the piece to the place carries, in the order of down.
	up, down             [][]int
	upWeight, downWeight [][]int
	// route holds the places that the edge to each follower passes, by node and position in Followers.
	route [][][]int
}

// maxPlaces bounds the work: beyond it Layered returns false. A screen shows some dozens of places.
const maxPlaces = 4096

// newPlaces puts the nodes in layers, in the author's order, and the dummies after them.
func newPlaces(g Graph) (*places, bool) {
	p := &places{nodes: len(g.Needs), layer: g.Layers(), route: make([][][]int, len(g.Needs))}
	if p.nodes > maxPlaces {
		return nil, false
	}
	p.source = make([]int, p.nodes)
	for i, layer := range p.layer {
		p.source[i] = i
		p.add(layer, i)
	}
	p.up, p.down = make([][]int, p.nodes), make([][]int, p.nodes)
	p.upWeight, p.downWeight = make([][]int, p.nodes), make([][]int, p.nodes)
	for i := range p.nodes {
		if !p.connect(g, i) {
			return nil, false
		}
	}
	return p, true
}

func (p *places) add(layer, place int) {
	for len(p.layers) <= layer {
		p.layers = append(p.layers, nil)
	}
	p.layers[layer] = append(p.layers[layer], place)
}

// connect routes the edges of one source.
func (p *places) connect(g Graph, source int) bool {
	var chain []int
	for _, target := range g.Followers[source] {
		var route []int
		at := source
		for k := p.layer[source] + 1; k < p.layer[target]; k++ {
			if n := k - p.layer[source] - 1; n == len(chain) {
				if len(p.layer) == maxPlaces {
					return false
				}
				chain = append(chain, p.dummy(source, k))
			}
			next := chain[k-p.layer[source]-1]
			p.join(at, next)
			route = append(route, next)
			at = next
		}
		p.join(at, target)
		p.route[source] = append(p.route[source], route)
	}
	return true
}

func (p *places) dummy(source, layer int) int {
	place := len(p.layer)
	p.layer, p.source = append(p.layer, layer), append(p.source, source)
	p.up, p.down = append(p.up, nil), append(p.down, nil)
	p.upWeight, p.downWeight = append(p.upWeight, nil), append(p.downWeight, nil)
	p.add(layer, place)
	return place
}

// join connects two places of adjacent layers, or counts one more edge on the piece between them.
func (p *places) join(from, to int) {
	for i, place := range p.down[from] {
		if place == to {
			p.downWeight[from][i]++
			for j, source := range p.up[to] {
				if source == from {
					p.upWeight[to][j]++
				}
			}
			return
		}
	}
	p.down[from], p.downWeight[from] = append(p.down[from], to), append(p.downWeight[from], 1)
	p.up[to], p.upWeight[to] = append(p.up[to], from), append(p.upWeight[to], 1)
}

func (p *places) isDummy(place int) bool { return place >= p.nodes }
