// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"maps"
	"slices"
)

const (
	// maxKeyframes bounds the states that are kept of a session, for going back.
	maxKeyframes = 16
	// leastKeyframe is the least number of records between two of them.
	leastKeyframe = 2000
)

// keyframes are states of a session at places through which it was played already, in their order.
type keyframes struct {
	kept []keyframe
	// every is the number of records between two.
	every int
}

// keyframe is the state after the first index records.
type keyframe struct {
	index int
	state *state
}

func newKeyframes(records int) keyframes {
	return keyframes{every: max(leastKeyframe, records/maxKeyframes)}
}

// pass keeps the state after the first index records, when it is time for that and it is not kept yet.
func (k *keyframes) pass(index int, s *state) {
	if index%k.every == 0 && index == (len(k.kept)+1)*k.every {
		k.kept = append(k.kept, keyframe{index, s.clone()})
	}
}

// before returns the last state that fits reports to be early enough, to be changed by the caller; the empty one when
// none is.
func (k *keyframes) before(fits func(index int) bool) (*state, int) {
	for _, frame := range slices.Backward(k.kept) {
		if fits(frame.index) {
			return frame.state.clone(), frame.index
		}
	}
	return newState(), 0
}

// clone returns a state that can be changed without changing this one.
func (s *state) clone() *state {
	c := &state{events: maps.Clone(s.events), next: maps.Clone(s.next), synced: s.synced,
		stages: maps.Clone(s.stages), logs: make(map[stageKey]*stageLog, len(s.logs)), runs: maps.Clone(s.runs),
		resources: maps.Clone(s.resources), lost: s.lost}
	for key, log := range s.logs {
		// What one of the two appends is not in the other, although they share what is there.
		c.logs[key] = &stageLog{blocks: slices.Clip(log.blocks), truncated: log.truncated}
	}
	for _, r := range s.resources {
		r.shared = true
	}
	return c
}
