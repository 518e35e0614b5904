// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import "github.com/pipedeck/pipedeck/tui/graph/layout"

// Direction is where a key moves the selection.
type Direction uint8

// Up and Down move to the neighbour on the screen, Left along an edge to a need, Right to a follower.
const (
	Up Direction = iota
	Down
	Left
	Right
)

// maxTrail is how many steps along edges can be walked back.
const maxTrail = 16

// Cursor is the selected stage and the way along edges that led to it. Its zero value selects nothing.
type Cursor struct {
	ID    string
	trail []step
}

type step struct {
	from      string
	direction Direction
}

// Move returns the cursor after a key in a picture of stages, which are those that were drawn. Left and right lead to
// the need or follower that is nearest on the screen; the way back leads where the cursor came from. A cursor on no
// stage of the picture moves to the first.
func (c Cursor) Move(stages []Stage, p Picture, direction Direction) Cursor {
	at := -1
	for i, place := range p.Places {
		if place.ID == c.ID {
			at = i
			break
		}
	}
	switch {
	case len(p.Places) == 0:
		return Cursor{}
	case at < 0:
		return Cursor{ID: p.Places[0].ID}
	case direction == Up || direction == Down:
		if next := besides(p.Places, at, direction); next >= 0 {
			return Cursor{ID: p.Places[next].ID}
		}
		return c
	}
	ends := ends(stages, c.ID, direction)
	if last := len(c.trail) - 1; last >= 0 && c.trail[last].direction != direction && ends[c.trail[last].from] {
		return Cursor{ID: c.trail[last].from, trail: c.trail[:last:last]}
	}
	next := nearest(p.Places, at, func(i int) bool { return ends[p.Places[i].ID] })
	if next < 0 {
		return c.along(p.Places, at, direction)
	}
	trail := append(c.trail[max(0, len(c.trail)+1-maxTrail):len(c.trail):len(c.trail)], step{c.ID, direction})
	return Cursor{ID: p.Places[next].ID, trail: trail}
}

// along moves to the next place of the same row, which no edge leads to: the stages of a rollback stand side by side.
func (c Cursor) along(places []Place, at int, direction Direction) Cursor {
	next := nearest(places, at, func(i int) bool {
		return places[i].Y == places[at].Y && (places[i].X < places[at].X) == (direction == Left)
	})
	if next < 0 {
		return c
	}
	return Cursor{ID: places[next].ID}
}

// besides returns the nearest place above or below in the same column.
func besides(places []Place, at int, direction Direction) int {
	from := places[at]
	return nearest(places, at, func(i int) bool {
		above := places[i].Y < from.Y
		return places[i].X == from.X && places[i].Y != from.Y && above == (direction == Up)
	})
}

func nearest(places []Place, at int, fits func(int) bool) int {
	best, least := -1, 0
	for i, place := range places {
		if i == at || !fits(i) {
			continue
		}
		distance := abs(place.X-places[at].X) + abs(place.Y-places[at].Y)
		if best < 0 || distance < least {
			best, least = i, distance
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// ends returns the ids at the other ends of the edges of a stage.
func ends(stages []Stage, id string, direction Direction) map[string]bool {
	g := layout.NewGraph(nodes(stages))
	found := make(map[string]bool)
	for i, stage := range stages {
		if stage.ID != id {
			continue
		}
		neighbours := g.Needs[i]
		if direction == Right {
			neighbours = g.Followers[i]
		}
		for _, neighbour := range neighbours {
			found[stages[neighbour].ID] = true
		}
	}
	return found
}
