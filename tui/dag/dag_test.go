// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package dag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/dag"
)

// parse reads "b<a" as stage b requiring a.
func parse(stages string) []dag.Node {
	var nodes []dag.Node
	for i, field := range strings.Fields(stages) {
		id, requires, _ := strings.Cut(field, "<")
		node := dag.Node{ID: id, Index: i}
		if requires != "" {
			node.Requires = strings.Split(requires, ",")
		}
		nodes = append(nodes, node)
	}
	return nodes
}

func TestStagesBecomeRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stages, want string }{
		"no stage":                       {"", ""},
		"one stage":                      {"a", "0:a"},
		"a line":                         {"a b<a c<b", "0:a 1:b 2:c"},
		"a line given backwards":         {"c<b b<a a", "0:a 1:b 2:c"},
		"a diamond":                      {"a b<a c<a d<b,c", "0:a 1:├b 1:╰c 2:d"},
		"a fan":                          {"a b<a c<a d<a", "0:a 1:├b 1:├c 1:╰d"},
		"several starts":                 {"a b c<a,b", "0:├a 0:╰b 1:c"},
		"lanes that do not meet":         {"a b c<a d<b", "0:├a 0:╰b 1:├c(a) 1:╰d(b)"},
		"a stage that skips a layer":     {"a b<a c<b d<a", "0:a 1:├b 1:╰d 2:c(b)"},
		"an unknown requirement":         {"a b<zzz", "0:├a 0:╰b(zzz)"},
		"a stage that requires itself":   {"a b<b", "0:├a 0:╰b(b)"},
		"a cycle still shows everything": {"a<c b<a c<b", "0:b(a) 1:c 2:a"},
		"an id used twice":               {"a a b<a", "0:├a 0:╰a 1:b(a)"},
		"a requirement named twice":      {"a b<a,a", "0:a 1:b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := parse(c.stages)
			var got []string
			for _, row := range dag.Rows(nodes) {
				after := ""
				if len(row.After) > 0 {
					after = "(" + strings.Join(row.After, ",") + ")"
				}
				place := map[dag.Place]string{dag.Fork: "├", dag.Last: "╰"}[row.Place]
				got = append(got, fmt.Sprintf("%d:%s%s%s", row.Layer, place, nodes[row.Node].ID, after))
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestManyStagesKeepTheirOrderAndAllComeOut(t *testing.T) {
	t.Parallel()
	const layers, width = 50, 8
	var nodes []dag.Node
	for layer := range layers {
		for i := range width {
			node := dag.Node{ID: fmt.Sprintf("%d/%d", layer, i), Index: len(nodes)}
			for j := range width {
				if layer > 0 {
					node.Requires = append(node.Requires, fmt.Sprintf("%d/%d", layer-1, j))
				}
			}
			nodes = append(nodes, node)
		}
	}
	rows := dag.Rows(nodes)
	require.Len(t, rows, layers*width)
	for i, row := range rows {
		require.Equal(t, i, row.Node)
		require.Equal(t, i/width, row.Layer)
		require.Empty(t, row.After)
	}
}
