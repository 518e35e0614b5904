// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph"
)

var names = []string{
	"line-6", "diamond", "fan-5", "late-join", "skip-edge", "five-starts", "two-components", "all-to-all", "rollback-3",
	"release-30", "hundred",
}

// A deployment runs from its first stage to its last; no stage moves in either form.
func TestNoStageMovesWhileADeploymentRuns(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		stages := read(t, name)
		for i := range stages {
			stages[i].Status, stages[i].Start, stages[i].Duration = graph.NotStarted, 0, 0
			stages[i].Rollback = false
		}
		o := graph.Options{View: graph.View{Width: 100, Height: 40}}
		lanes, boxed := graph.Lanes(stages, o), boxes(stages, o)
		for i := range stages {
			statuses := []graph.Status{graph.Running, graph.Waiting, graph.Failed}
			if len(stages) > 20 { // one of them for each of many stages
				statuses = statuses[i%3 : i%3+1]
			}
			for _, status := range append(statuses[:len(statuses):len(statuses)], graph.Done) {
				stages[i].Status, stages[i].Duration = status, time.Duration(i)*time.Minute
				require.Equal(t, lanes.Places, graph.Lanes(stages, o).Places, name)
				require.Equal(t, boxed.Places, boxes(stages, o).Places, name)
			}
		}
	}
}

func TestNoGraphIsDrawnSmallerThanTheLeastSizeOfBoxes(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		stages := read(t, name)
		least, picture := graph.LeastBoxes(stages), boxes(stages, graph.Options{})
		require.LessOrEqual(t, least.Width, picture.Width, name)
		require.LessOrEqual(t, least.Height, picture.Height, name)
		require.Positive(t, least.Width*least.Height, name)
	}
}

func TestARollbackMovesNoOtherStage(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		var forward []graph.Stage
		for _, stage := range read(t, name) {
			if !stage.Rollback {
				forward = append(forward, stage)
			}
		}
		all := append(forward[:len(forward):len(forward)],
			graph.Stage{ID: "undo-a", Name: "undo-a", Rollback: true, Status: graph.Running},
			graph.Stage{ID: "undo-b", Name: "undo-b", Rollback: true, Needs: []string{"undo-a"}})
		o := graph.Options{View: graph.View{Width: 100, Height: 40}}
		lanes, boxed := graph.Lanes(forward, o), boxes(forward, o)
		require.Equal(t, lanes.Places, graph.Lanes(all, o).Places[:len(lanes.Places)], name)
		require.Equal(t, boxed.Places, boxes(all, o).Places[:len(boxed.Places)], name)
	}
}

func TestARollbackThatHasNotStartedIsOneLine(t *testing.T) {
	t.Parallel()
	stages := []graph.Stage{
		{ID: "a", Name: "a"},
		{ID: "undo-eu", Name: "undo-eu", Rollback: true}, {ID: "undo-us", Name: "undo-us", Rollback: true},
	}
	o := graph.Options{View: graph.View{Width: 40}}
	require.Contains(t, whole(graph.Lanes, stages, o).Plain(), "↺ on failure: undo-eu, undo-us")
	require.Contains(t, whole(boxes, stages, o).Plain(), "↺ on failure: undo-eu, undo-us")
}

func TestAStageIsCalledByItsIDElseByTypeAndDescription(t *testing.T) {
	t.Parallel()
	require.Equal(t, "unit", graph.Name("unit", "SCRIPT_RUN", "run the tests"))
	require.Equal(t, "Script: run the tests", graph.Name("", "Script", "run the tests"))
	require.Equal(t, "Script", graph.Name("", "Script", ""))
}

func TestTheSelectedStageIsMarkedAndKeepsTheColourOfItsState(t *testing.T) {
	t.Parallel()
	stages := read(t, "diamond")
	o := graph.Options{View: graph.View{Width: 60, Height: 20}, Selected: "scan"}
	row := graph.Lanes(stages, o).Rows[3]
	require.Equal(t, graph.Cell{Text: "▌", Role: graph.RunningRole, Bold: true, Selected: true}, row[0])
	require.Equal(t, graph.Cell{Text: "●", Role: graph.RunningRole, Bold: true, Selected: true}, row[5])
	picture := boxes(stages, o)
	place := picture.Places[3]
	require.Equal(t, "scan", place.ID)
	corner := picture.Rows[place.Y][place.X]
	require.Equal(t, graph.Cell{Text: "┏", Role: graph.RunningRole}, corner)
	require.True(t, picture.Rows[place.Y+1][place.X+2].Selected)
}

// A view into the middle of a drawing shows the same cells as the whole.
func TestAViewIsAPartOfTheWhole(t *testing.T) {
	t.Parallel()
	stages := read(t, "release-30")
	all := boxes(stages, graph.Options{View: graph.View{Width: 200, Height: 30}})
	part := boxes(stages, graph.Options{View: graph.View{X: 17, Y: 5, Width: 50, Height: 9}})
	for y, row := range part.Rows {
		require.Equal(t, all.Rows[y+5][17:67], row)
	}
}
