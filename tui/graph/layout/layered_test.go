// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// parse reads "b<a,c" as node b that needs a and c.
func parse(list string) []layout.Node {
	var nodes []layout.Node
	for field := range strings.FieldsSeq(list) {
		id, needs, some := strings.Cut(field, "<")
		node := layout.Node{ID: id}
		if some {
			node.Needs = strings.Split(needs, ",")
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func TestNodesStandOneLayerAfterTheLastOfTheirNeeds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ nodes, want string }{
		"no node":                      {"", ""},
		"a line":                       {"a b<a c<b", "0 1 2"},
		"a line given backwards":       {"c<b b<a a", "2 1 0"},
		"a diamond":                    {"a b<a c<a d<b,c", "0 1 1 2"},
		"a need over several layers":   {"a b<a c<b d<a,c", "0 1 2 3"},
		"an unknown need":              {"a b<zzz", "0 0"},
		"a node that needs itself":     {"a b<b", "0 0"},
		"a need named twice":           {"a b<a,a", "0 1"},
		"a circle opens where it ends": {"a<c b<a c<b", "2 0 1"},
		"an id used twice":             {"a a<b b<a", "0 2 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, layer := range layout.NewGraph(parse(c.nodes)).Layers() {
				got = append(got, strconv.Itoa(layer))
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

// Every property on each of the graphs that dagre has judged as well.
func TestLayeredDrawingsKeepTheirProperties(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= judgedGraphs; seed++ {
		nodes := random(seed)
		g := layout.NewGraph(nodes)
		picture, ok := layout.Layered(g, sizes(len(nodes)), nil)
		require.True(t, ok)
		again, _ := layout.Layered(layout.NewGraph(nodes), sizes(len(nodes)), nil)
		require.Equal(t, picture, again, "seed %d: two drawings of the same graph differ", seed)
		kept, _ := layout.Layered(g, sizes(len(nodes)), &picture)
		require.Equal(t, picture, kept, "seed %d: the same graph moves", seed)
		checkRight(t, picture)
		if seed%5 == 0 { // cell by cell, which takes its time
			checkRoom(t, picture)
		}
		checkEdges(t, g, picture)
		require.Equal(t, picture.Crossings, countCrossings(picture), "seed %d", seed)
	}
}

// checkRight requires that each follower stands right of its needs and no edge runs to the left.
func checkRight(t *testing.T, p layout.Picture) {
	t.Helper()
	for _, edge := range p.Edges {
		from, to := p.Nodes[edge.From], p.Nodes[edge.To]
		require.GreaterOrEqual(t, to.X, from.X+from.Width+layout.MinGap)
		for _, segment := range edge.Segments {
			if segment.From.X > segment.To.X {
				t.Fatalf("%v runs to the left", segment)
			}
		}
	}
}

// checkRoom requires that no node covers another node or an edge of others, and that all stand within the picture.
func checkRoom(t *testing.T, p layout.Picture) {
	t.Helper()
	owner := make(map[layout.Point]int)
	for node, rect := range p.Nodes {
		require.True(t, rect.X >= 0 && rect.Y >= 0 && rect.X+rect.Width <= p.Width && rect.Y+rect.Height <= p.Height)
		for x := rect.X; x < rect.X+rect.Width; x++ {
			for y := rect.Y; y < rect.Y+rect.Height; y++ {
				at := layout.Point{X: x, Y: y}
				_, taken := owner[at]
				require.False(t, taken, "two nodes at %v", at)
				owner[at] = node
			}
		}
	}
	for _, edge := range p.Edges {
		for _, segment := range edge.Segments {
			for _, at := range cells(segment) {
				if node, taken := owner[at]; taken {
					require.True(t, node == edge.From || node == edge.To, "an edge crosses a node at %v", at)
				}
			}
		}
	}
}

func cells(s layout.Segment) []layout.Point {
	var points []layout.Point
	for x := min(s.From.X, s.To.X); x <= max(s.From.X, s.To.X); x++ {
		for y := min(s.From.Y, s.To.Y); y <= max(s.From.Y, s.To.Y); y++ {
			points = append(points, layout.Point{X: x, Y: y})
		}
	}
	return points
}

// checkEdges requires that each need has its edge, and that the edge is orthogonal and joins its two nodes.
func checkEdges(t *testing.T, g layout.Graph, p layout.Picture) {
	t.Helper()
	var needs, edges [][2]int
	for from, followers := range g.Followers {
		for _, to := range followers {
			needs = append(needs, [2]int{from, to})
		}
	}
	for _, edge := range p.Edges {
		edges = append(edges, [2]int{edge.From, edge.To})
		from, to := p.Nodes[edge.From], p.Nodes[edge.To]
		at := layout.Point{X: from.X + from.Width - 1, Y: from.Y + 1}
		require.Equal(t, at, edge.Segments[0].From)
		for _, segment := range edge.Segments {
			if segment.From.X != segment.To.X && segment.From.Y != segment.To.Y || segment.From != at {
				t.Fatalf("the edge is interrupted, or %v is not straight", segment)
			}
			at = segment.To
		}
		require.Equal(t, layout.Point{X: to.X, Y: to.Y + 1}, at)
	}
	require.Equal(t, needs, edges)
}

// countCrossings counts again, pair by pair, by the rows at which edges leave and enter the layers.
func countCrossings(p layout.Picture) int {
	type piece struct{ from, to int }
	gaps := make(map[int][]piece)
	layer := make(map[int]int)
	for k, nodes := range p.Layers {
		for _, node := range nodes {
			layer[node] = k
		}
	}
	for _, edge := range p.Edges {
		k, row := layer[edge.From], p.Nodes[edge.From].Y+1
		for _, segment := range edge.Segments {
			if segment.Trunk < 0 {
				gaps[k] = append(gaps[k], piece{row, segment.From.Y})
				k, row = k+1, segment.From.Y
			}
		}
		gaps[k] = append(gaps[k], piece{row, p.Nodes[edge.To].Y + 1})
	}
	count := 0
	for _, pieces := range gaps {
		for i, a := range pieces {
			for _, b := range pieces[:i] {
				if (a.from-b.from)*(a.to-b.to) < 0 {
					count++
				}
			}
		}
	}
	return count
}

// Lines of different trunks may cross. Where one of them bends or ends on the other, a reader would take them for one,
// so there they must have a node in common.
func TestLinesThatMeetHaveANodeInCommon(t *testing.T) {
	t.Parallel()
	met, total := 0, 0
	for seed := uint64(1); seed <= judgedGraphs; seed += 3 {
		nodes := random(seed)
		picture, _ := layout.Layered(layout.NewGraph(nodes), sizes(len(nodes)), nil)
		horizontal := make(map[layout.Point][]layout.Edge)
		trunks := make(map[layout.Point][]int)
		for _, edge := range picture.Edges {
			for _, segment := range edge.Segments {
				if segment.From.Y != segment.To.Y || segment.Trunk < 0 {
					continue
				}
				for _, at := range cells(segment) {
					horizontal[at], trunks[at] = append(horizontal[at], edge), append(trunks[at], segment.Trunk)
				}
			}
		}
		for at, edges := range horizontal {
			total++
			for i := range edges {
				if trunks[at][i] != trunks[at][0] && edges[i].To != edges[0].To && !shareDummies(edges[i], edges[0]) {
					met++
				}
			}
		}
	}
	require.Zero(t, met, "of %d cells", total)
}

// shareDummies reports whether two edges have the same source: then they may run together.
func shareDummies(a, b layout.Edge) bool { return a.From == b.From }
