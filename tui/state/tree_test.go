// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

func resources(lines ...string) (list []*deckv1.Resource) {
	for _, line := range lines {
		name, owner, owned := strings.Cut(line, " of ")
		kind, _, _ := strings.Cut(name, "-")
		r := &deckv1.Resource{Id: name, Name: name, Kind: kind}
		if owned {
			r.ParentIds = []string{owner}
		}
		list = append(list, r)
	}
	return list
}

// drawn is one line for each row: a mark for each level above, and the name.
func drawn(t *state.Tree) (lines []string) {
	for _, row := range t.Rows() {
		line := ""
		for _, more := range row.Rails {
			line += map[bool]string{true: "| ", false: "  "}[more]
		}
		lines = append(lines, line+map[bool]string{true: "\\ ", false: "- "}[row.Last]+row.GetName())
	}
	return lines
}

func TestResourcesAreATreeByOwner(t *testing.T) {
	t.Parallel()
	tree := &state.Tree{}
	tree.Apply(&deckv1.WatchResourcesResponse{Resources: resources("pod-2 of set-1", "set-1 of deployment", "service",
		"pod-1 of set-1")})
	require.Empty(t, tree.Rows(), "half a report is not shown")
	require.False(t, tree.Known())
	tree.Apply(&deckv1.WatchResourcesResponse{Resources: resources("deployment", "pod-3 of no owner"), Complete: true})
	require.True(t, tree.Known())
	require.Equal(t, []string{"- deployment", "| \\ set-1", "|   - pod-1", "|   \\ pod-2", "- pod-3", "\\ service"},
		drawn(tree))

	tree.Apply(&deckv1.WatchResourcesResponse{Removed: []string{"set-1", "service"}, Complete: true})
	require.Equal(t, []string{"- deployment", "- pod-1", "- pod-2", "\\ pod-3"}, drawn(tree))
}

func TestOwnersInACircleAreShownOnce(t *testing.T) {
	t.Parallel()
	tree := &state.Tree{}
	tree.Apply(&deckv1.WatchResourcesResponse{Resources: resources("a of b", "b of a", "c of c"), Complete: true})
	require.Equal(t, []string{"\\ a", "  \\ b", "\\ c"}, drawn(tree))
}

func BenchmarkTree(b *testing.B) {
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf("deployment-%d", i), fmt.Sprintf("set-%d of deployment-%d", i, i),
			fmt.Sprintf("pod-%d of set-%d", i, i), fmt.Sprintf("conf-%d", i))
	}
	tree := &state.Tree{}
	tree.Apply(&deckv1.WatchResourcesResponse{Resources: resources(all...), Complete: true})
	for b.Loop() {
		tree.Apply(&deckv1.WatchResourcesResponse{Resources: resources("pod-7 of set-7"), Complete: true})
	}
}
