// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLayersHoldWhatMayRunAtTheSameTime(t *testing.T) {
	t.Parallel()
	stages := []Stage{
		{ID: "build"}, {ID: "unit", Needs: []string{"build"}}, {ID: "lint", Needs: []string{"build"}},
		{ID: "gate", Needs: []string{"unit", "lint"}}, {ID: "docs"}, {ID: "undo", Rollback: true},
	}
	names := func() (names [][]string) {
		for _, layer := range Layers(stages) {
			var ids []string
			for _, stage := range layer {
				ids = append(ids, stage.ID)
			}
			names = append(names, ids)
		}
		return names
	}
	pipeline := [][]string{{"build", "docs"}, {"unit", "lint"}, {"gate"}}
	require.Equal(t, pipeline, names())
	stages[5].Status = Running
	require.Equal(t, append(pipeline, []string{"undo"}), names())
	require.Empty(t, Layers(nil))
}
