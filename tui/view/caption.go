// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Caption is what is said at a step of a story.
type Caption struct {
	Theme theme.Theme
	Text  string
	// Step counts from 1 to Steps.
	Step, Steps int
	// Hint is what the story waits for.
	Hint string
}

const (
	// maxCaption bounds the lines of the words: those of the longest caption that a story may have, on 60 columns.
	maxCaption = 6
	// roomyCaption is how many lines the words may take so that they leave columns empty for the step and the hint.
	roomyCaption = 3
	// spareColumns are those of a line of a caption that hold neither the step nor the hint.
	spareColumns = 12
)

// Draw returns 2 to 7 lines of width columns. The step and the hint stand at the right of the first and of the last
// line, in separate columns. Where these would squeeze the words, both stand behind the words.
func (v Caption) Draw(width int) []string {
	th := v.Theme
	step := fmt.Sprintf("step %d of %d", v.Step, v.Steps)
	const indent, margin = 3, 2
	side := max(text.Width(step), text.Width(v.Hint)) + margin
	rows := rowsOf(v.Text, max(1, width-side-indent), maxCaption, th.Ellipsis)
	first, last := th.Dim.Render(step), th.Key.Render(v.Hint)
	if side > width/2 || len(rows) > roomyCaption {
		first, last = "", th.Dim.Render(step)
		if hint := text.Cut(v.Hint, width-text.Width(step)-spareColumns, th.Ellipsis); hint != "" {
			last = th.Key.Render(hint) + "  " + last
		}
		rows = rowsOf(v.Text, max(1, width-indent-margin), maxCaption, th.Ellipsis)
		if indent+text.Width(rows[len(rows)-1])+margin+text.Width(last) > width {
			rows = append(rows, "")
		}
	}
	if len(rows) == 1 { // so that the panes do not jump when a hint comes
		rows = append(rows, "")
	}
	var lines []string
	for i, row := range rows {
		left, right := "   "+th.Strong.Render(row), ""
		switch i {
		case 0:
			left, right = " "+th.Key.Render(">")+" "+th.Strong.Render(row), first
		case len(rows) - 1:
			right = last
		}
		lines = append(lines, split(th, left, right+" ", width))
	}
	return lines
}
