// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph"
)

var update = flag.Bool("update", false, "write the golden drawings")

var statuses = map[string]graph.Status{
	"not-started": graph.NotStarted, "running": graph.Running, "waiting": graph.Waiting, "done": graph.Done,
	"failed": graph.Failed, "skipped": graph.Skipped, "cancelled": graph.Cancelled,
}

// read parses lines of "[rollback] status | id | needs | start in seconds | duration | note".
func read(t testing.TB, name string) []graph.Stage {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name+".graph"))
	require.NoError(t, err)
	var stages []graph.Stage
	for line := range strings.Lines(string(content)) {
		fields := append(strings.Split(strings.TrimSpace(line), "|"), "", "", "", "", "")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		word, rollback := strings.CutPrefix(fields[0], "rollback ")
		status, known := statuses[word]
		require.Truef(t, known, "status %q", word)
		stages = append(stages, graph.Stage{
			ID: fields[1], Name: fields[1], Needs: strings.Fields(fields[2]), Status: status, Rollback: rollback,
			Start: seconds(t, fields[3]), Duration: seconds(t, fields[4]), Note: fields[5],
		})
	}
	return stages
}

func seconds(t testing.TB, s string) time.Duration {
	t.Helper()
	if s == "" {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return time.Duration(f * float64(time.Second))
}

// whole draws everything: the view is as large as the drawing.
func whole(draw func([]graph.Stage, graph.Options) graph.Picture, stages []graph.Stage, o graph.Options) graph.Picture {
	size := draw(stages, o)
	o.View.Height = size.Height
	if o.View.Width == 0 {
		o.View.Width = size.Width
	}
	return draw(stages, o)
}

func boxes(stages []graph.Stage, o graph.Options) graph.Picture {
	picture, _, ok := graph.Boxes(stages, o)
	if !ok {
		panic("the graph is too large for boxes")
	}
	return picture
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	var trimmed strings.Builder
	for line := range strings.Lines(got) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(trimmed.String()), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with: go test ./tui/graph -update")
	require.Equal(t, string(want), trimmed.String())
}

func TestGraphsAreDrawnAsTheGoldenDrawings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ width, bar int }{
		"line-6": {46, 10}, "diamond": {46, 10}, "fan-5": {46, 10}, "late-join": {46, 10}, "skip-edge": {46, 10},
		"five-starts": {46, 10}, "two-components": {46, 10}, "all-to-all": {46, 10}, "rollback-3": {47, 10},
		"release-30": {60, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stages := read(t, name)
			o := graph.Options{View: graph.View{Width: c.width}, Bar: c.bar, Reverted: "3f2a1c9"}
			golden(t, name+".lanes", whole(graph.Lanes, stages, o).Plain())
			wide := graph.Options{View: graph.View{Width: 200}, Reverted: "3f2a1c9"}
			golden(t, name+".boxes", whole(boxes, stages, wide).Plain())
			o.ASCII = true
			golden(t, name+".lanes.ascii", whole(graph.Lanes, stages, o).Plain())
		})
	}
}

func TestLanesFitEachWidth(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"release-30", "hundred", "rollback-3"} {
		for _, width := range []int{60, 100, 200} {
			t.Run(name+"-"+strconv.Itoa(width), func(t *testing.T) {
				t.Parallel()
				o := graph.Options{View: graph.View{Width: width}, Reverted: "3f2a1c9"}
				picture := whole(graph.Lanes, read(t, name), o)
				golden(t, name+"-"+strconv.Itoa(width)+".lanes", picture.Plain())
			})
		}
	}
}

func TestFoldsAndTheMapAreDrawnAsTheGoldenDrawings(t *testing.T) {
	t.Parallel()
	hundred := read(t, "hundred")
	for _, ascii := range []bool{false, true} {
		suffix := map[bool]string{true: ".ascii"}[ascii]
		o := graph.Options{View: graph.View{Width: 52}, Bar: 10, ASCII: ascii}
		golden(t, "fold-100.lanes"+suffix, whole(graph.Lanes, graph.Fold(hundred, 2), o).Plain())
		shown := graph.Fold(hundred, 2)
		o.View.Height = 3
		golden(t, "map-100.lanes"+suffix, graph.Map(hundred, func(id string) bool {
			for _, stage := range shown {
				if stage.ID == id {
					return true
				}
			}
			return false
		}, o).Plain())
	}
	o := graph.Options{View: graph.View{Width: 200}}
	golden(t, "fold-100.boxes", whole(boxes, graph.Fold(hundred, 2), o).Plain())
	golden(t, "fold-30.boxes", whole(boxes, graph.Fold(read(t, "release-30"), 0), o).Plain())
}

func TestNamesThatBoxesCutToTheSameAreFound(t *testing.T) {
	t.Parallel()
	require.True(t, graph.DistinctInBoxes([]graph.Stage{{Name: "deploy-eu"}, {Name: "deploy-us"}}))
	require.False(t, graph.DistinctInBoxes([]graph.Stage{{Name: "SCRIPT_RUN: run a"}, {Name: "SCRIPT_RUN: run b"}}))
}
