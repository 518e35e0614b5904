// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Choice is one way out of a dialog.
type Choice struct {
	Key, Text string
}

// Dialog asks a question over everything else.
type Dialog struct {
	Theme    theme.Theme
	Title    string
	Lines    []string
	Choices  []Choice
	Selected int
	// Line draws what is typed, below the lines; nil where nothing is.
	Line func(width int, note string) string
}

// narrowDialog is the width below which the keys of a dialog have no column.
const narrowDialog = 30

// Draw returns the dialog, at most width columns wide and height lines high.
func (v Dialog) Draw(width, height int) string {
	th := v.Theme
	inner := text.Width(v.Title) + 6
	for _, line := range v.Lines {
		inner = max(inner, text.Width(line)+4)
	}
	for _, choice := range v.Choices {
		inner = max(inner, text.Width(choice.Key)+text.Width(choice.Text)+9)
	}
	inner = min(inner, width-2)
	lines := []string{""}
	for _, line := range v.Lines {
		for _, part := range text.Wrap(line, inner-4) {
			lines = append(lines, "  "+part)
		}
	}
	if v.Line != nil {
		lines = append(lines, " "+v.Line(inner-2, "")+" ")
	}
	lines = append(lines, "")
	for i, choice := range v.Choices {
		key := 5
		if inner < narrowDialog {
			key = text.Width(choice.Key)
		}
		line := "  " + th.Key.Render(text.Pad(choice.Key, key, "")) + " " + choice.Text
		if i == v.Selected {
			line = mark(th, line, inner, true)
		}
		lines = append(lines, line)
	}
	lines = append(lines, "")
	if len(lines)+2 > height { // the choices matter most
		lines = v.dense(lines, height-2)
	}
	return box{theme: th, title: v.Title, focused: true}.draw(lines, inner+2, min(len(lines)+2, height))
}

// dense leaves blank lines out, then what is said, then choices that are not near the selected one.
func (v Dialog) dense(lines []string, room int) []string {
	full := slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	choices := full[len(full)-len(v.Choices):]
	said := full[:min(len(full)-len(choices), max(1, room-len(choices)))]
	from, to := window(len(choices), max(1, room-len(said)), v.Selected, v.Selected)
	return append(slices.Clone(said), choices[from:to]...)
}

// TooSmall is shown when the terminal cannot hold the screen.
func TooSmall(width, height, minWidth, minHeight int) string {
	message := []string{
		fmt.Sprintf("terminal too small (%dx%d), needs %dx%d", width, height, minWidth, minHeight),
		"make it larger, or press q",
	}
	lines := make([]string, max(0, height))
	for i := range lines {
		lines[i] = strings.Repeat(" ", max(0, width))
	}
	var wrapped []string
	for _, line := range message {
		wrapped = append(wrapped, text.Wrap(line, max(1, width))...)
	}
	start := max(0, (height-len(wrapped))/2)
	for i, line := range wrapped {
		if start+i < len(lines) {
			pad := max(0, (width-text.Width(line))/2)
			lines[start+i] = text.Pad(strings.Repeat(" ", pad)+line, width, "")
		}
	}
	return strings.Join(lines, "\n")
}

// Over puts top in the middle of base, which has width columns and height lines.
func Over(base, top string, width, height int) string {
	columns, lines := 0, 0
	for line := range strings.SplitSeq(top, "\n") {
		columns, lines = max(columns, text.Width(line)), lines+1
	}
	return At(base, top, max(0, (width-columns)/2), max(0, (height-lines)/2), width, height)
}

// At puts top over base, which has width columns and height lines, with its upper left corner at a column and a line.
// What does not fit is cut.
func At(base, top string, x, y, width, height int) string {
	lines := strings.Split(base, "\n")
	for line := range strings.SplitSeq(top, "\n") {
		if y >= min(height, len(lines)) {
			break
		}
		end := x + text.Width(line)
		if end > width {
			line, end = text.Part(line, 0, width-x), width
		}
		lines[y] = text.Part(lines[y], 0, x) + line + text.Part(lines[y], end, width)
		y++
	}
	return strings.Join(lines, "\n")
}
