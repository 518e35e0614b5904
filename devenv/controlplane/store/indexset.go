// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "slices"

// indexSet remembers the indexes of log blocks. They come nearly in order and nearly without
// gaps, so that few ranges hold them.
type indexSet struct {
	ranges []indexRange
}

// Both ends belong to it.
type indexRange struct{ low, high int64 }

// Beyond this many ranges, the gap between the lowest two is taken as seen.
const maxRanges = 4096

// add reports whether the index is new.
func (s *indexSet) add(index int64) bool {
	at, found := slices.BinarySearchFunc(s.ranges, index, func(r indexRange, index int64) int {
		switch {
		case r.high < index:
			return -1
		case r.low > index:
			return 1
		}
		return 0
	})
	if found {
		return false
	}
	joinsLeft := at > 0 && s.ranges[at-1].high == index-1
	joinsRight := at < len(s.ranges) && s.ranges[at].low == index+1
	switch {
	case joinsLeft && joinsRight:
		s.ranges[at-1].high = s.ranges[at].high
		s.ranges = slices.Delete(s.ranges, at, at+1)
	case joinsLeft:
		s.ranges[at-1].high = index
	case joinsRight:
		s.ranges[at].low = index
	default:
		s.ranges = slices.Insert(s.ranges, at, indexRange{index, index})
	}
	if len(s.ranges) > maxRanges {
		s.ranges[1].low = s.ranges[0].low
		s.ranges = slices.Delete(s.ranges, 0, 1)
	}
	return true
}
