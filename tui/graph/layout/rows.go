// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import "math"

const (
	// passes is how often rows are adjusted, alternately by what precedes and by what follows.
	passes = 24
	// freePasses is the pass from which a place without neighbours on the one side follows the other side.
	freePasses = 5
)

type column struct {
	*places
	sizes []Size
	rows  []int
}

func (c column) height(place int) int {
	if c.isDummy(place) {
		return 1
	}
	return c.sizes[place].Height
}

func (c column) port(place int) int {
	if c.isDummy(place) {
		return c.rows[place]
	}
	return c.rows[place] + c.sizes[place].Port
}

// placeRows gives each place of p a row, the first at top, and returns the row below the last.
func placeRows(p *places, sizes []Size, rows []int, top int) int {
	c := column{places: p, sizes: sizes, rows: rows}
	for _, layer := range p.layers {
		y := 0
		for _, place := range layer {
			rows[place] = y
			y += c.height(place)
		}
	}
	for pass := range passes {
		moved := false
		for n := range p.layers {
			k := n
			if pass%2 == 1 {
				k = len(p.layers) - 1 - n
			}
			moved = c.settle(p.layers[k], pass) || moved
		}
		if !moved && pass > freePasses {
			break
		}
	}
	first, last := math.MaxInt, top
	for _, layer := range p.layers {
		for _, place := range layer {
			first = min(first, rows[place])
		}
	}
	for _, layer := range p.layers {
		for _, place := range layer {
			rows[place] += top - first
			last = max(last, rows[place]+c.height(place))
		}
	}
	return last
}

// block is a run of places that touch; at is the row of the first.
type block struct {
	first, end, height int
	at, weight         float64
}

// settle moves the places of a layer to the mean row of their neighbours. Places that would overlap become a block at
// the mean of what they want (pool adjacent violators).
func (c column) settle(layer []int, pass int) bool {
	blocks := make([]block, 0, len(layer))
	for i, place := range layer {
		height := c.height(place)
		blocks = append(blocks, block{first: i, end: i + 1, height: height, at: c.wanted(place, pass), weight: 1})
		for len(blocks) > 1 {
			a, b := &blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.at+float64(a.height) <= b.at {
				break
			}
			a.at = (a.at*a.weight + (b.at-float64(a.height))*b.weight) / (a.weight + b.weight)
			a.end, a.height, a.weight = b.end, a.height+b.height, a.weight+b.weight
			blocks = blocks[:len(blocks)-1]
		}
	}
	moved, y := false, math.MinInt
	for _, b := range blocks {
		y = max(y, int(math.RoundToEven(b.at)))
		for _, place := range layer[b.first:b.end] {
			moved = moved || c.rows[place] != y
			c.rows[place] = y
			y += c.height(place)
		}
	}
	return moved
}

// wanted is the row at which the edges of place would run straight.
func (c column) wanted(place, pass int) float64 {
	near, far := c.up[place], c.down[place]
	if pass%2 == 1 {
		near, far = far, near
	}
	if len(near) == 0 && pass >= freePasses {
		near = far
	}
	if len(near) == 0 {
		return float64(c.rows[place])
	}
	sum := 0
	for _, neighbour := range near {
		sum += c.port(neighbour)
	}
	return float64(sum)/float64(len(near)) - float64(c.port(place)-c.rows[place])
}
