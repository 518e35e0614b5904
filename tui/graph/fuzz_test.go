// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/text"
)

// stagesOf reads any text: a line is a stage, its words are its id, then its needs; the first byte chooses the state.
func stagesOf(s string) []graph.Stage {
	var stages []graph.Stage
	for line := range strings.SplitSeq(s, "\n") {
		words := strings.Split(line, " ")
		state := byte(0)
		if line != "" {
			state = line[0]
		}
		stages = append(stages, graph.Stage{
			ID: words[0], Name: words[0], Needs: words[1:], Status: graph.Status(state % 7), Note: line,
			Rollback: state%5 == 4, Start: time.Duration(state) * time.Second,
			Duration: time.Duration(len(line)) * 100 * time.Second,
		})
	}
	return stages
}

func checkDrawings(t *testing.T, stages []graph.Stage, width, height int) {
	t.Helper()
	o := graph.Options{View: graph.View{Width: width, Height: height}, Reverted: stages[0].Name, Selected: stages[0].ID}
	for _, ascii := range []bool{false, true} {
		o.ASCII = ascii
		checkPicture(t, graph.Lanes(stages, o), o.View)
		boxed, _, ok := graph.Boxes(stages, o)
		if ok {
			checkPicture(t, boxed, o.View)
		}
		for _, direction := range []graph.Direction{graph.Up, graph.Down, graph.Left, graph.Right} {
			graph.Cursor{ID: stages[0].ID}.Move(stages, boxed, direction)
		}
		folded := graph.Fold(stages, 1)
		checkPicture(t, graph.Lanes(folded, o), o.View)
		checkPicture(t, graph.Map(stages, func(string) bool { return true }, o), o.View)
	}
}

func checkPicture(t *testing.T, p graph.Picture, view graph.View) {
	t.Helper()
	require.Len(t, p.Rows, max(0, view.Height))
	for _, row := range p.Rows {
		var line strings.Builder
		for _, cell := range row {
			line.WriteString(cell.Text)
		}
		require.Equal(t, max(0, view.Width), text.Width(line.String()), "%q", line.String())
	}
}

func FuzzAnyGraphIsDrawnWithinItsWidth(f *testing.F) {
	f.Add("a\nb a\nc a\nd b c", 40, 10)
	f.Add("a a\nb c\nc b\nb\n\n日本語 a b\n\u0301 日本語\nx\x1b[31m\u200b b", 7, 30)
	f.Add("", 0, 0)
	f.Add(strings.Repeat("s s t\n", 50), 3, 100)
	f.Add("a\nb\nc a b\nd a b\ne c d\nf c d zzz", -5, -7)
	f.Fuzz(func(t *testing.T, s string, width, height int) {
		checkDrawings(t, stagesOf(s), min(max(width, -2), 250), min(max(height, -2), 100))
	})
}

func TestTenThousandStagesAreDrawn(t *testing.T) {
	t.Parallel()
	const count = 10_000
	line, fan, both := make([]string, count), make([]string, count), make([]string, count)
	name := func(i int) string { return "n" + string(rune(0x4e00+i)) }
	for i := range count {
		line[i] = name(i) + " " + name(i-1)
		fan[i] = name(i) + " " + name(0)
		both[i] = line[i] + " " + name(i/2)
	}
	// Where lines stand next to each other, their number counts as well.
	for _, lines := range [][]string{line, fan[:count/5], both[:count/5]} {
		checkDrawings(t, stagesOf(strings.Join(lines, "\n")), 100, 40)
	}
}

func BenchmarkTwoHundredStages(b *testing.B) {
	var stages []graph.Stage
	for _, prefix := range []string{"x-", "y-"} {
		for _, stage := range read(b, "hundred") {
			stage.ID, stage.Name = prefix+stage.ID, prefix+stage.Name
			for i, need := range stage.Needs {
				stage.Needs[i] = prefix + need
			}
			stages = append(stages, stage)
		}
	}
	o := graph.Options{View: graph.View{Width: 200, Height: 60}}
	b.Run("lanes", func(b *testing.B) {
		for b.Loop() {
			graph.Lanes(stages, o)
		}
	})
	b.Run("boxes", func(b *testing.B) {
		for b.Loop() {
			graph.Boxes(stages, o)
		}
	})
}
