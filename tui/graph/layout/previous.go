// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"fmt"
	"slices"
)

// order is what a picture keeps for the next one: the place of each node and dummy in its layer, by key.
type order struct {
	ids  []string
	rank map[string]int
}

// keys names the places in a way that survives a change of the pipeline.
func (p *places) keys(g Graph) []string {
	keys := make([]string, len(p.layer))
	count := make(map[string]int, len(p.layer))
	for i := range keys {
		key := fmt.Sprintf("%d %t %q", p.layer[i], p.isDummy(i), g.IDs[p.source[i]])
		count[key]++
		keys[i] = fmt.Sprint(key, count[key])
	}
	return keys
}

// startFrom takes over the order of the previous picture. Places that it did not have follow the place that the author
// wrote before them. It returns true if the previous picture had all places: then nothing is left to improve.
func (s *sorter) startFrom(keys []string, previous order) bool {
	complete := true
	for k, layer := range s.layers {
		rank := -1
		for i, place := range layer {
			if known, ok := previous.rank[keys[place]]; ok {
				rank = known
			} else {
				complete = false
			}
			s.mean[place] = float64(rank)
			s.at[place] = i
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(s.mean[a], s.mean[b]) })
		s.number(k)
	}
	return complete
}
