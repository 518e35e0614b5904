// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// LayerOrder returns the ids of the stages as Big shows them: by layers, each from the left to the right.
func LayerOrder(d *deckv1.Deployment) []string {
	var ids []string
	for _, layer := range graph.Layers(stagesOf(d, Keys{}, time.Time{})) {
		for _, stage := range layer {
			ids = append(ids, stage.ID)
		}
	}
	return ids
}

// bigBody is what stands between the rules. The sign of the selection stands left of the marked line; "" for none.
type bigBody struct {
	lines  []string
	mark   string
	marked int
}

// body has exactly height lines: the stages by layers, the log, or why there is neither.
func (v Big) body(width, height int) bigBody {
	room := max(0, height)
	if v.Find != nil {
		room--
	}
	var b bigBody
	switch d := v.Deployment.Deployment; {
	case v.Log != nil:
		b.lines = v.Log.big(width, room)
	case d == nil:
		b.lines = v.nothing(width)
	case len(d.GetStages()) == 0:
		b.lines = v.withoutStages(width)
	default:
		b = v.layers(width, room)
	}
	b.lines = slices.Concat(b.lines, make([]string, max(0, room-len(b.lines))))[:room]
	if v.Find != nil {
		b.lines = append(b.lines, v.Find(width))
	}
	return b
}

// layers draws a row for each layer, as far apart as they fit; where not all fit, those around the selected stage.
func (v Big) layers(width, height int) bigBody {
	th := v.Theme
	layers := graph.Layers(stagesOf(v.Deployment.Deployment, v.Keys, v.Now))
	at, longest := 0, time.Duration(0)
	for i, layer := range layers {
		for _, stage := range layer {
			longest = max(longest, stage.Duration)
			if stage.ID == v.Stage {
				at = i
			}
		}
	}
	step := 3
	for step > 1 && step*(len(layers)-1)+1 > height {
		step--
	}
	from, to := window(len(layers), height, at, at)
	var b bigBody
	for i := from; i < to; i++ {
		line, tone := v.layer(layers[i], longest, width)
		switch {
		case i == from && from > 0:
			line = th.Dim.Render(fmt.Sprintf("%s   %d more above", th.Ellipsis, from+1))
		case i == to-1 && to < len(layers):
			line = th.Dim.Render(fmt.Sprintf("%s   %d more below", th.Ellipsis, len(layers)-i))
		case i == at:
			b.mark, b.marked = tone.Sign(th.Mark), len(b.lines)
		}
		b.lines = append(b.lines, line)
		for n := 1; n < step && i < to-1; n++ {
			b.lines = append(b.lines, v.edge(layers[i], n))
		}
	}
	return b
}

// layer draws the stages of a layer in one row, with the sign of the one that matters most and the time of the longest.
func (v Big) layer(layer []graph.Stage, longest time.Duration, width int) (line string, tone theme.Tone) {
	th := v.Theme
	worst := v.worst(layer)
	badge := stageBadge(th, v.stage(worst.ID))
	var took time.Duration
	for _, stage := range layer {
		took = max(took, stage.Duration)
	}
	bar, times := 0, durationWidth+1
	if width >= bigWide {
		bar, times = width*3/10, 12
	}
	names := v.names(layer, width-4-bar-times-2)
	line = badge.dot() + "   " + names + "  "
	if bar > 0 {
		filled := 0
		if took > 0 && longest > 0 {
			filled = max(1, int(int64(bar)*int64(took)/int64(longest)))
		}
		line += badge.style.Sign(strings.Repeat(th.Full, filled)) + strings.Repeat(" ", bar-filled)
	}
	words := ""
	if took > 0 {
		words = Duration(took)
		if !worst.Status.Ended() {
			words = Ticking(took)
		}
	}
	return line + th.Text.Render(text.PadLeft(words, times, "")), badge.style
}

func (v Big) worst(layer []graph.Stage) graph.Stage {
	return slices.MaxFunc(layer, func(a, b graph.Stage) int { return a.Status.Weight() - b.Status.Weight() })
}

func (v Big) stage(id string) *deckv1.Stage {
	stages := v.Deployment.Deployment.GetStages()
	if at := slices.IndexFunc(stages, func(s *deckv1.Stage) bool { return s.GetId() == id }); at >= 0 {
		return stages[at]
	}
	return nil
}

// names lists the stages of a layer in width columns; where not all fit it counts the others.
func (v Big) names(layer []graph.Stage, width int) string {
	th, line, used := v.Theme, "", 0
	const plus = " + "
	for i, stage := range layer {
		name := v.name(stage)
		more := ""
		if left := len(layer) - i - 1; left > 0 {
			more = fmt.Sprintf("%s%d more", plus, left)
		}
		if i == 0 {
			name = text.Cut(name, width-len(more), th.Ellipsis)
		} else if used+len(plus)+text.Width(name)+len(more) > width {
			line += th.Dim.Render(fmt.Sprintf("%s%d more", plus, len(layer)-i))
			break
		} else {
			line, used = line+th.Dim.Render(plus), used+len(plus)
		}
		style := th.Text
		if stage.ID == v.Stage {
			style = th.Strong
		}
		line, used = line+style.Render(name), used+text.Width(name)
	}
	return text.Pad(line, width, th.Ellipsis)
}

// name is a name in capitals, with the sign of a rollback.
func (v Big) name(stage graph.Stage) string {
	name := shortName(v.stage(stage.ID), stage.Name)
	if stage.Rollback {
		name = v.Theme.Undo + " " + name
	}
	return strings.ToUpper(name)
}

// shortName is the name of a stage without its type where the author describes it.
func shortName(stage *deckv1.Stage, name string) string {
	if stage.GetConfigId() == "" && stage.GetDesc() != "" {
		return text.Line(stage.GetDesc())
	}
	return name
}

// edge is the n-th line below a layer: the way to the next one, then blank.
func (v Big) edge(layer []graph.Stage, n int) string {
	th, worst := v.Theme, v.worst(layer)
	switch {
	case n > 1:
		return ""
	case worst.Status == graph.NotStarted:
		return th.Tones.Border.Sign(th.Rail)
	case worst.Status.Ended():
		return th.Tones.Dim.Sign(th.Rail)
	}
	return stageBadge(th, v.stage(worst.ID)).style.Sign(th.Thumb)
}
