// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/pipedeck/pipedeck/tui/graph/layout"

// Layers groups stages that may run at the same time, the first ones first: each stage is in the layer after the last
// of its needs. The layers of a rollback come last, and only when it has started. No layer is empty.
func Layers(stages []Stage) [][]Stage {
	forward, rollback := split(stages)
	layers := layered(forward)
	if started(rollback) {
		layers = append(layers, layered(rollback)...)
	}
	return layers
}

func layered(stages []Stage) [][]Stage {
	var layers [][]Stage
	for i, layer := range layout.NewGraph(nodes(stages)).Layers() {
		for len(layers) <= layer {
			layers = append(layers, nil)
		}
		layers[layer] = append(layers[layer], stages[i])
	}
	return layers
}
