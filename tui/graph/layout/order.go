// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"slices"
)

const (
	// patience is how many sweeps may pass without a better order.
	patience = 4
	// maxTransposes bounds the passes of one transpose.
	maxTransposes = 4
)

// sorter looks for the order in the layers with the fewest crossings.
type sorter struct {
	*places
	// at is the position of each place in its layer, mean the mean position of its neighbours.
	at   []int
	mean []float64
	// tree sums weights by position, for counting.
	tree []int
	ends []weighted
}

type weighted struct{ at, weight int }

func newSorter(p *places) *sorter {
	s := &sorter{places: p, at: make([]int, len(p.layer)), mean: make([]float64, len(p.layer))}
	for k := range p.layers {
		s.number(k)
	}
	return s
}

// reduce sorts the layers. The order that it finds first counts among equals, so a drawing without crossings stays.
func (s *sorter) reduce() {
	fewest := s.crossings()
	best := s.copyLayers()
	for _, start := range []func(){func() {}, s.followEdges} {
		if fewest == 0 {
			break
		}
		s.restore(best)
		start()
		for sweep, idle := 0, 0; idle < patience && fewest > 0; sweep++ {
			s.sweep(sweep%2 == 0, sweep%4 >= 2)
			s.transpose()
			idle++
			if n := s.crossings(); n < fewest {
				fewest, best, idle = n, s.copyLayers(), 0
			}
		}
	}
	s.restore(best)
}

func (s *sorter) number(k int) {
	for i, place := range s.layers[k] {
		s.at[place] = i
	}
}

func (s *sorter) copyLayers() [][]int {
	layers := make([][]int, len(s.layers))
	for k, layer := range s.layers {
		layers[k] = slices.Clone(layer)
	}
	return layers
}

func (s *sorter) restore(layers [][]int) {
	for k, layer := range layers {
		copy(s.layers[k], layer)
		s.number(k)
	}
}

// followEdges orders the places as a walk along the edges meets them, so that branches stand together.
func (s *sorter) followEdges() {
	seen := make([]bool, len(s.layer))
	filled := make([]int, len(s.layers))
	starts := slices.Clone(s.layers)
	for k := range starts {
		starts[k] = slices.Clone(starts[k])
	}
	for _, layer := range starts {
		for _, start := range layer {
			for open := []int{start}; len(open) > 0; {
				place := open[len(open)-1]
				open = open[:len(open)-1]
				if seen[place] {
					continue
				}
				seen[place] = true
				k := s.layer[place]
				s.layers[k][filled[k]] = place
				filled[k]++
				for _, next := range slices.Backward(s.down[place]) {
					open = append(open, next)
				}
			}
		}
	}
	for k := range s.layers {
		s.number(k)
	}
}

// sweep sorts each layer by the mean position of the neighbours in the layer before it, or after it on the way up.
// Places without neighbours keep their place; late puts the last of equals first.
func (s *sorter) sweep(down, late bool) {
	for n := 1; n < len(s.layers); n++ {
		k, neighbours, weights := n, s.up, s.upWeight
		if !down {
			k, neighbours, weights = len(s.layers)-1-n, s.down, s.downWeight
		}
		for i, place := range s.layers[k] {
			s.mean[place] = float64(i)
			sum, count := 0, 0
			for j, neighbour := range neighbours[place] {
				sum += s.at[neighbour] * weights[place][j]
				count += weights[place][j]
			}
			if count > 0 {
				s.mean[place] = float64(sum) / float64(count)
			}
		}
		slices.SortStableFunc(s.layers[k], func(a, b int) int {
			if c := cmp.Compare(s.mean[a], s.mean[b]); c != 0 || !late {
				return c
			}
			return cmp.Compare(s.at[b], s.at[a])
		})
		s.number(k)
	}
}

// transpose swaps neighbours while that saves crossings.
func (s *sorter) transpose() {
	for range maxTransposes {
		saved := false
		for k, layer := range s.layers {
			for i := 1; i < len(layer); i++ {
				if s.gain(layer[i-1], layer[i]) > 0 {
					layer[i-1], layer[i] = layer[i], layer[i-1]
					s.at[layer[i-1]], s.at[layer[i]] = i-1, i
					saved = true
				}
			}
			s.number(k)
		}
		if !saved {
			return
		}
	}
}

// gain is how many crossings disappear when a, which stands directly before b, stands after it.
func (s *sorter) gain(a, b int) int {
	sum := 0
	for _, side := range []struct{ neighbours, weights [][]int }{{s.up, s.upWeight}, {s.down, s.downWeight}} {
		for i, x := range side.neighbours[a] {
			for j, y := range side.neighbours[b] {
				weight := side.weights[a][i] * side.weights[b][j]
				switch {
				case s.at[x] > s.at[y]:
					sum += weight
				case s.at[x] < s.at[y]:
					sum -= weight
				}
			}
		}
	}
	return sum
}

// crossings counts the pairs of edges that cross between two layers, each pair once for each such gap.
func (s *sorter) crossings() int {
	sum := 0
	for k := 1; k < len(s.layers); k++ {
		sum += s.crossingsBefore(k)
	}
	return sum
}

func (s *sorter) crossingsBefore(k int) int {
	size := len(s.layers[k])
	s.tree = append(s.tree[:0], make([]int, size+1)...)
	sum, before := 0, 0
	for _, place := range s.layers[k-1] {
		s.ends = s.ends[:0]
		for i, target := range s.down[place] {
			s.ends = append(s.ends, weighted{at: s.at[target], weight: s.downWeight[place][i]})
		}
		for _, end := range s.ends {
			upTo := 0
			for i := end.at + 1; i > 0; i &= i - 1 {
				upTo += s.tree[i]
			}
			sum += (before - upTo) * end.weight
		}
		for _, end := range s.ends {
			before += end.weight
			for i := end.at + 1; i <= size; i += i & -i {
				s.tree[i] += end.weight
			}
		}
	}
	return sum
}
