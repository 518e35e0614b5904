// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package dag

import (
	"slices"
	"sort"
)

// Node is a stage as far as its place is concerned.
type Node struct {
	ID       string
	Requires []string
	// Index is the position in the configured pipeline; it orders the nodes of one layer.
	Index int
}

// Layers returns the positions in nodes, grouped: a node stands one layer below the lowest of those it
// requires. What a cycle or an unknown id asks for does not count.
func Layers(nodes []Node) [][]int {
	byID := make(map[string]int, len(nodes))
	for i, node := range nodes {
		if _, taken := byID[node.ID]; !taken {
			byID[node.ID] = i
		}
	}
	depth := make([]int, len(nodes))
	state := make([]visit, len(nodes))
	for i := range nodes {
		measure(nodes, byID, depth, state, i)
	}

	var layers [][]int
	for i, d := range depth {
		for len(layers) <= d {
			layers = append(layers, nil)
		}
		layers[d] = append(layers[d], i)
	}
	// A cycle can leave a depth that no node has.
	layers = slices.DeleteFunc(layers, func(layer []int) bool { return len(layer) == 0 })
	for _, layer := range layers {
		sort.SliceStable(layer, func(a, b int) bool { return nodes[layer[a]].Index < nodes[layer[b]].Index })
	}
	return layers
}

type visit int

const (
	unseen visit = iota
	onPath
	measured
)

func measure(nodes []Node, byID map[string]int, depth []int, state []visit, i int) {
	if state[i] != unseen {
		return
	}
	state[i] = onPath
	for _, id := range nodes[i].Requires {
		j, known := byID[id]
		if !known || j == i {
			continue
		}
		measure(nodes, byID, depth, state, j)
		if state[j] == measured {
			depth[i] = max(depth[i], depth[j]+1)
		}
	}
	state[i] = measured
}
