// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import "sync"

// Split shares turns by weights, evenly mixed: with 3 and 1, every fourth turn is the second's.
type Split struct {
	mu      sync.Mutex
	weights []int64
	// credit is what each is behind its share, in units of the weights' sum.
	credit []int64
	total  int64
}

// NewSplit returns a Split. Weights are at least 0 and at most 1,000,000.
func NewSplit(weights []int32) *Split {
	s := &Split{credit: make([]int64, len(weights))}
	for _, weight := range weights {
		s.weights = append(s.weights, int64(weight))
		s.total += int64(weight)
	}
	return s
}

// Next returns the index of the weight whose turn it is, or -1 when there is no weight above 0.
func (s *Split) Next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := -1
	for i, weight := range s.weights {
		s.credit[i] += weight
		if weight > 0 && (next < 0 || s.credit[i] > s.credit[next]) {
			next = i
		}
	}
	if next >= 0 {
		s.credit[next] -= s.total
	}
	return next
}
