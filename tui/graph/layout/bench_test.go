// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// BenchmarkTwoHundredNodes places 200 nodes with 300 needs among the last twenty nodes.
func BenchmarkTwoHundredNodes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // the same graph in each run
	nodes := make([]layout.Node, 200)
	for i := range nodes {
		nodes[i].ID = strconv.Itoa(i)
		for range min(i, 1+i%2) {
			nodes[i].Needs = append(nodes[i].Needs, strconv.Itoa(i-1-r.IntN(min(i, 20))))
		}
	}
	extents := sizes(len(nodes))
	b.Run("layered", func(b *testing.B) {
		for b.Loop() {
			layout.Layered(layout.NewGraph(nodes), extents, nil)
		}
	})
	b.Run("lanes", func(b *testing.B) {
		for b.Loop() {
			layout.Lanes(layout.NewGraph(nodes))
		}
	})
}
