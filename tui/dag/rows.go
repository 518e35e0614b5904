// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package dag

import "slices"

// Place says how a row hangs together with its neighbours.
type Place int

const (
	// Alone: the only stage of its layer.
	Alone Place = iota
	// Fork: one of several side by side, with more below.
	Fork
	// Last: the last of several side by side.
	Last
)

// Row is one stage in drawing order.
type Row struct {
	// Node is the position in the nodes given.
	Node  int
	Place Place
	// Layer counts from 0.
	Layer int
	// After names the required stages (ids) where the picture would mislead: by default a stage
	// seems to come after every stage of the layer above.
	After []string
}

// Rows returns one row for each node, layer by layer.
func Rows(nodes []Node) []Row {
	rows := make([]Row, 0, len(nodes))
	var above []int
	for depth, layer := range Layers(nodes) {
		for i, node := range layer {
			row := Row{Node: node, Layer: depth, After: unlike(nodes, above, nodes[node].Requires)}
			switch {
			case len(layer) == 1:
				row.Place = Alone
			case i == len(layer)-1:
				row.Place = Last
			default:
				row.Place = Fork
			}
			rows = append(rows, row)
		}
		above = layer
	}
	return rows
}

// unlike returns requires unless it is just the layer above.
func unlike(nodes []Node, above []int, requires []string) []string {
	if len(requires) == 0 {
		return nil
	}
	ids := make([]string, len(above))
	for i, node := range above {
		ids[i] = nodes[node].ID
	}
	slices.Sort(ids)
	wanted := slices.Compact(slices.Sorted(slices.Values(requires)))
	if slices.Equal(ids, wanted) {
		return nil
	}
	return requires
}
