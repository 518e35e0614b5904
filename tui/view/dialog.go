// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
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
	// Last is said below what is typed, such as what is wrong with it.
	Last string
}

const (
	// narrowDialog is the width below which the keys of a dialog have no column, lowDialog the height below which it
	// has neither a frame nor blank lines.
	narrowDialog, lowDialog = 30, 10
	// keyColumn is the width of the keys of choices.
	keyColumn = 5
)

// Draw returns the dialog, at most width columns wide and height lines high. Where not everything has room, blank lines
// yield first, then what is said, then the choices that are not near the selected one.
func (v Dialog) Draw(width, height int) string {
	if width < narrowDialog || height < lowDialog {
		return v.bare(width, height)
	}
	inner := min(v.wanted(), width-2)
	room := height - 2
	var said, typed []string
	title := v.Title
	if text.Width(title) > inner-4 { // the question is never cut
		for _, part := range text.Wrap(title, inner-4) {
			said = append(said, "  "+v.Theme.TitleFocused.Render(part))
		}
		title = ""
	}
	for _, line := range v.Lines {
		for _, part := range text.Wrap(line, inner-4) {
			said = append(said, "  "+part)
		}
	}
	if v.Line != nil {
		typed = append(typed, " "+v.Line(inner-2, "")+" ")
	}
	for _, part := range text.Wrap(v.Last, inner-4) {
		if part != "" {
			typed = append(typed, "  "+part)
		}
	}
	choices := v.choices(inner, keyColumn)
	if blanks := 3; len(said)+len(typed)+len(choices)+blanks <= room {
		lines := slices.Concat([]string{""}, said, typed, []string{""}, choices, []string{""})
		return box{theme: v.Theme, title: title, focused: true}.draw(lines, inner+2, len(lines)+2)
	}
	said = slices.DeleteFunc(said, func(line string) bool { return strings.TrimSpace(line) == "" })
	said = v.kept(said, max(0, room-len(typed)-min(len(choices), room/2)))
	from, to := window(len(choices), room-len(typed)-len(said), v.Selected, v.Selected)
	lines := slices.Concat(said, typed, choices[from:to])
	frame := box{theme: v.Theme, title: title, focused: true, total: len(choices), top: from, shown: to - from}
	return frame.draw(lines, inner+2, min(len(lines)+2, height))
}

// kept are at most n lines of what is said: the first ones, or the last ones where they stand above what is typed.
func (v Dialog) kept(said []string, n int) []string {
	switch {
	case len(said) <= n:
		return said
	case v.Line != nil && len(v.Choices) == 0:
		return said[len(said)-n:]
	}
	return said[:n]
}

// wanted is the width of everything without the frame.
func (v Dialog) wanted() int {
	inner := max(text.Width(v.Title)+6, text.Width(v.Last)+4)
	for _, line := range v.Lines {
		inner = max(inner, text.Width(line)+4)
	}
	for _, choice := range v.Choices {
		inner = max(inner, text.Width(choice.Key)+text.Width(choice.Text)+9)
	}
	return inner
}

// choices are the answers with their keys in a column.
func (v Dialog) choices(width, column int) []string {
	var lines []string
	for i, choice := range v.Choices {
		key := max(text.Width(choice.Key), column)
		line := "  " + v.Theme.Key.Render(text.Pad(choice.Key, key, "")) + " " + choice.Text
		if column == 0 {
			line = line[1:]
		}
		if i == v.Selected {
			line = mark(v.Theme, line, width, true)
		}
		lines = append(lines, line)
	}
	return lines
}

// bare is the dialog on a small screen: the whole question, what is typed, and the answers around the selected one.
// What is said besides the question has no room there.
func (v Dialog) bare(width, height int) string {
	th := v.Theme
	question := text.Wrap(v.Title, width)
	choices := v.choices(width, 0)
	least := min(len(choices), max(1, height/2))
	var typed []string
	if v.Line != nil {
		typed = []string{v.Line(width, "")}
	}
	if room := max(1, height-least-len(typed)); len(question) > room {
		question = question[:room]
		question[room-1] = text.Cut(question[room-1], width-text.Width(th.Ellipsis), "") + th.Ellipsis
	}
	var lines []string
	for _, line := range question {
		lines = append(lines, th.TitleFocused.Render(line))
	}
	said := text.Wrap(v.Last, width)
	if v.Last == "" && len(v.Lines) > 0 {
		said = text.Wrap(v.Lines[len(v.Lines)-1], width)
	}
	if spare := height - len(lines) - len(typed) - len(choices); len(v.Choices) == 0 && spare >= len(said) {
		lines = append(lines, said...)
	}
	lines = append(lines, typed...)
	from, to := window(len(choices), height-len(lines), v.Selected, v.Selected)
	lines = append(lines, choices[from:to]...)
	for i := range max(height, len(lines)) {
		if i == len(lines) {
			lines = append(lines, "")
		}
		lines[i] = text.Pad(lines[i], width, th.Ellipsis)
	}
	return strings.Join(lines, "\n")
}
