// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph"
)

func TestArrowsMoveAlongTheGraph(t *testing.T) {
	t.Parallel()
	const u, d, l, r = graph.Up, graph.Down, graph.Left, graph.Right
	for name, c := range map[string]struct {
		graph, from string
		boxes       bool
		keys        []graph.Direction
		want        string
	}{
		"nothing is selected":                     {"diamond", "", false, []graph.Direction{d}, "build"},
		"down goes to the next row":               {"diamond", "unit", false, []graph.Direction{d}, "lint"},
		"up goes to the row before":               {"diamond", "lint", false, []graph.Direction{u}, "unit"},
		"the last row is the end":                 {"diamond", "gate", false, []graph.Direction{d}, "gate"},
		"right goes to the nearest follower":      {"diamond", "build", false, []graph.Direction{r}, "unit"},
		"left goes to the need":                   {"diamond", "scan", false, []graph.Direction{l}, "build"},
		"going back returns where one came from":  {"diamond", "scan", false, []graph.Direction{l, r}, "scan"},
		"several steps back as well":              {"line-6", "clean", true, []graph.Direction{l, l, r, r}, "clean"},
		"up and down stay in the column of boxes": {"diamond", "unit", true, []graph.Direction{d, d, d}, "scan"},
		"boxes go right to the nearest":           {"diamond", "build", true, []graph.Direction{r}, "lint"},
		"a joint is passed":                       {"all-to-all", "a2", true, []graph.Direction{r}, "b2"},
		"a start has nothing left of it":          {"line-6", "build", true, []graph.Direction{l}, "build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stages := read(t, c.graph)
			o := graph.Options{View: graph.View{Width: 80, Height: 30}}
			picture := graph.Lanes(stages, o)
			if c.boxes {
				picture = boxes(stages, o)
			}
			cursor := graph.Cursor{ID: c.from}
			for _, key := range c.keys {
				cursor = cursor.Move(stages, picture, key)
			}
			require.Equal(t, c.want, cursor.ID)
		})
	}
}

// Every stage can be reached with the arrows, and no step leaves the picture.
func TestArrowsReachEveryStage(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		stages := read(t, name)
		o := graph.Options{View: graph.View{Width: 80, Height: 30}}
		pictures := map[string]graph.Picture{"lanes": graph.Lanes(stages, o), "boxes": boxes(stages, o)}
		for form, picture := range pictures {
			reached := map[string]bool{}
			for open := []string{picture.Places[0].ID}; len(open) > 0; {
				at := open[len(open)-1]
				open = open[:len(open)-1]
				if reached[at] {
					continue
				}
				reached[at] = true
				for _, direction := range []graph.Direction{graph.Up, graph.Down, graph.Left, graph.Right} {
					open = append(open, graph.Cursor{ID: at}.Move(stages, picture, direction).ID)
				}
			}
			require.Lenf(t, reached, len(picture.Places), "%s of %s", form, name)
		}
	}
}
