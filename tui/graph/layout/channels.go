// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// channels assigns trunks to channels, the vertical lines of a gap, numbered from the left.
type channels struct {
	// ports are the rows at which edges leave and arrive, and the rows of bends.
	ports map[int]bool
	// height is that of the picture; bends stay within it.
	height int
	placed []*trunk
}

// assign gives each trunk the leftmost channel in which it touches no other trunk. Where a trunk arrives in the row in
// which another one leaves, the other one stands further left, so that the two lines do not meet; trunks that wait for
// each other in a circle are bent.
func (c *channels) assign(trunks []*trunk) []*trunk {
	leaves := make(map[int]*trunk)
	for _, t := range trunks {
		for _, row := range t.sources {
			leaves[row] = t
		}
	}
	waiting := make(map[*trunk]int, len(trunks))
	followers := make(map[*trunk][]*trunk)
	for _, t := range trunks {
		for _, row := range t.targets {
			if before := leaves[row]; before != nil && before != t {
				waiting[t]++
				followers[before] = append(followers[before], t)
			}
		}
	}
	least := make(map[*trunk]int, len(trunks))
	release := func(t *trunk, channel int) {
		for _, follower := range followers[t] {
			waiting[follower]--
			least[follower] = max(least[follower], channel+1)
		}
		followers[t] = nil
	}
	for open := trunks; len(open) > 0; {
		i := firstFree(open, waiting)
		if i < 0 {
			if !c.bendOne(open, least, release) {
				waiting[open[0]] = 0 // no row is free for a bend: two lines meet
			}
			continue
		}
		t := open[i]
		open = append(append([]*trunk{}, open[:i]...), open[i+1:]...)
		c.put(t, least[t])
		release(t, t.channel)
	}
	return c.placed
}

func firstFree(trunks []*trunk, waiting map[*trunk]int) int {
	for i, t := range trunks {
		if waiting[t] == 0 {
			return i
		}
	}
	return -1
}

// put places t in the first channel from least in which it is alone in its rows.
func (c *channels) put(t *trunk, least int) {
	t.channel = least
	for i := 0; i < len(c.placed); i++ {
		if o := c.placed[i]; o.channel == t.channel && t.low <= o.high && o.low <= t.high {
			t.channel++
			i = -1
		}
	}
	c.placed = append(c.placed, t)
}

// bendOne bends the first trunk that can be bent.
func (c *channels) bendOne(open []*trunk, least map[*trunk]int, release func(*trunk, int)) bool {
	for _, t := range open {
		if t.left == nil && c.bend(t) {
			release(t, t.left.channel)
			least[t] = max(least[t], t.left.channel+1)
			return true
		}
	}
	return false
}

// bend divides t at the free row next to its middle, and places the left part.
func (c *channels) bend(t *trunk) bool {
	row, found := 0, false
	for distance := 0; distance < c.height && !found; distance++ {
		for _, row = range []int{(t.low+t.high)/2 - distance, (t.low+t.high)/2 + distance} {
			if found = row >= 0 && row < c.height && !c.ports[row]; found {
				break
			}
		}
	}
	if !found {
		return false
	}
	c.ports[row] = true
	t.bend, t.left = row, newTrunk()
	t.left.spans(row)
	for _, port := range t.sources {
		t.left.spans(port)
	}
	t.low, t.high = row, row
	for _, port := range t.targets {
		t.spans(port)
	}
	c.put(t.left, 0)
	return true
}
