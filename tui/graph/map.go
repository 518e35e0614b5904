// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// mapHeight is the number of rows of a map.
const mapHeight = 3

// Map draws the whole pipeline small, a cell for each layer: how many stages it has, its worst sign, and a line under
// the layers of the stages that isInView names. With more layers than the view has columns, a cell stands for several.
func Map(stages []Stage, isInView func(id string) bool, o Options) Picture {
	forward, _ := split(stages)
	c := newCanvas(o.View, o.ASCII)
	layers := layout.NewGraph(nodes(forward)).Layers()
	depth := 0
	for _, layer := range layers {
		depth = max(depth, layer+1)
	}
	width := min(depth, max(0, o.View.Width))
	if width == 0 {
		return Picture{Rows: c.rows}
	}
	counts, worst, seen := make([]int, width), make([]Status, width), make([]bool, width)
	most := 0
	for i, stage := range forward {
		cell := layers[i] * width / depth
		if counts[cell] == 0 || stage.Status.Weight() > worst[cell].Weight() {
			worst[cell] = stage.Status
		}
		counts[cell]++
		most = max(most, counts[cell])
		seen[cell] = seen[cell] || isInView(stage.ID)
	}
	heights := []rune("▁▂▃▄▅▆▇█")
	for x := range width {
		height := int(math.Round(float64(7*counts[x]) / float64(most)))
		c.glyph(x, 0, heights[height], Faint, false)
		c.glyph(x, 1, worst[x].sign(), worst[x].role(), worst[x].acute())
		if seen[x] {
			c.glyph(x, 2, '━', Text, false)
		}
	}
	return Picture{Width: width, Height: mapHeight, Rows: c.rows}
}

// Weight orders states by how much they matter to a reader, the least first.
func (s Status) Weight() int {
	return [...]int{NotStarted: 2, Running: 4, Waiting: 5, Done: 0, Failed: 6, Skipped: 1, Cancelled: 3}[s]
}
