// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph/layout"
)

// judged is one of the random graphs with the crossings of dagre's drawing of it.
type judged struct {
	Seed      uint64   `json:"seed"`
	Nodes     int      `json:"nodes"`
	Edges     [][2]int `json:"edges"`
	Crossings int      `json:"dagreCrossings"`
}

var writeGraphs = flag.String("write-graphs", "", "write the random graphs to this file instead of comparing crossings")

const judgedGraphs = 200

// The figures are those of @dagrejs/dagre 3.1.3 with its default options. The rule for both: an edge is the line
// through its node, its dummies and its follower; two edges cross once in each gap between adjacent ranks in which the
// order of their ends differs. Edges that share a dummy count one by one, joints are not used.
func TestCrossingsAreAtMostThoseOfDagre(t *testing.T) {
	t.Parallel()
	if *writeGraphs != "" {
		writeRandomGraphs(t)
		return
	}
	content, err := os.ReadFile("testdata/dagre.json")
	require.NoError(t, err)
	var graphs []judged
	require.NoError(t, json.Unmarshal(content, &graphs))
	require.Len(t, graphs, judgedGraphs)
	ours, theirs := 0, 0
	for _, graph := range graphs {
		nodes := random(graph.Seed)
		require.Equal(t, graph.Edges, edgesOf(nodes), "the generator makes another graph of seed %d", graph.Seed)
		picture, ok := layout.Layered(layout.NewGraph(nodes), sizes(len(nodes)), nil)
		require.True(t, ok)
		require.LessOrEqualf(t, picture.Crossings, graph.Crossings+graph.Crossings/4+2, "seed %d", graph.Seed)
		ours, theirs = ours+picture.Crossings, theirs+graph.Crossings
	}
	t.Logf("crossings: %d, dagre %d", ours, theirs)
	require.LessOrEqual(t, ours, theirs)
}

func edgesOf(nodes []layout.Node) [][2]int {
	g := layout.NewGraph(nodes)
	var edges [][2]int
	for to, needs := range g.Needs {
		for _, from := range needs {
			edges = append(edges, [2]int{from, to})
		}
	}
	return edges
}

func writeRandomGraphs(t *testing.T) {
	t.Helper()
	graphs := make([]judged, judgedGraphs)
	for i := range graphs {
		nodes := random(uint64(i + 1))
		graphs[i] = judged{Seed: uint64(i + 1), Nodes: len(nodes), Edges: edgesOf(nodes)}
	}
	content, err := json.Marshal(graphs)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(*writeGraphs, content, 0o600))
}
