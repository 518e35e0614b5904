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

// maxCaption bounds the lines of a caption.
const maxCaption = 4

// Draw returns 2 to 4 lines of width columns. The text has the room next to the step and the hint, which stand at the
// right of the first and of the last line.
func (v Caption) Draw(width int) []string {
	th := v.Theme
	step := fmt.Sprintf("step %d of %d", v.Step, v.Steps)
	side := max(text.Width(step), text.Width(v.Hint)) + 2
	if side > width/2 { // a narrow screen has the words alone
		side, step, v.Hint = 0, "", ""
	}
	const indent = 3
	rows := rowsOf(v.Text, max(1, width-side-indent), maxCaption, th.Ellipsis)
	if len(rows) == 1 { // so that the panes do not jump when a hint comes
		rows = append(rows, "")
	}
	var lines []string
	for i, row := range rows {
		left, right := "   "+th.Strong.Render(row), ""
		if i == 0 {
			left, right = " "+th.Key.Render(">")+" "+th.Strong.Render(row), th.Dim.Render(step)
		}
		if i > 0 && i == len(rows)-1 {
			right = th.Key.Render(v.Hint)
		}
		lines = append(lines, split(th, left, right+" ", width))
	}
	return lines
}
