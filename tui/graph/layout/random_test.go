// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"math/rand/v2"
	"strconv"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// random returns a pipeline of 20 to 100 stages and 1.2 to 2 needs a stage. Most needs are near, as in pipelines that
// people write: half of them among the last eight stages, the others anywhere before.
func random(seed uint64) []layout.Node {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same graphs again are what is wanted
	nodes := make([]layout.Node, 20+r.IntN(81))
	edges := int(float64(len(nodes)) * (1.2 + 0.8*r.Float64()))
	for i := range nodes {
		nodes[i].ID = strconv.Itoa(i)
	}
	used := make(map[[2]int]bool)
	add := func(to int) {
		from := r.IntN(to)
		if near := min(to, 8); r.IntN(2) == 0 {
			from = to - 1 - r.IntN(near)
		}
		if pair := [2]int{from, to}; !used[pair] {
			used[pair] = true
			nodes[to].Needs = append(nodes[to].Needs, nodes[from].ID)
		}
	}
	for to := 1; to < len(nodes); to++ {
		add(to)
	}
	for len(used) < edges {
		add(1 + r.IntN(len(nodes)-1))
	}
	return nodes
}

// sizes are those of boxes with names of different lengths.
func sizes(n int) []layout.Size {
	sizes := make([]layout.Size, n)
	for i := range sizes {
		sizes[i] = layout.Size{Width: 13 + i%5, Height: 4, Port: 1}
	}
	return sizes
}
