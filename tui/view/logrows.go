// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Times is how the times of lines are shown.
type Times int

// The forms: the time of day, the time since the first line, none.
const (
	TimeOfDay Times = iota
	TimeSinceStart
	NoTimes
)

const (
	// timeWidth is "15:04:05 " or "+1h02m " before each line, left out on narrow screens.
	timeWidth   = 9
	minTimeRoom = 60
	// iconWidth is the column for the level and a space.
	iconWidth = 2
)

func (v *Log) gutter() int {
	if v.width >= minTimeRoom && v.Times != NoTimes && !v.large {
		return timeWidth + iconWidth
	}
	return iconWidth
}

// room is how many columns the text of a line has.
func (v *Log) room() int { return max(1, v.width-v.gutter()) }

// rows are the lines in sight, wrapped or cut, the first to show first, each with the number of its line; -1 for what
// is no line.
func (v *Log) rows() (rows []string, numbers []int) {
	if v.Buffer == nil {
		return nil, nil
	}
	first, next := v.Buffer.Span()
	if next == first {
		return nil, nil
	}
	top, sub := v.position()
	last := top
	add := func(number int, parts ...string) {
		for _, part := range parts {
			rows, numbers = append(rows, part), append(numbers, number)
		}
	}
	for n, line := range v.lines(top, v.height+1) {
		if n > 0 {
			add(-1, v.folded(last, line.Number)...)
		}
		if len(rows) >= v.height {
			break
		}
		parts := v.render(line.Line, line.Number)
		if n == 0 {
			parts = parts[min(sub, len(parts)-1):]
		}
		add(line.Number, parts...)
		last = line.Number
	}
	v.seen = max(v.seen, last+1)
	return rows[:min(len(rows), v.height)], numbers[:min(len(rows), v.height)]
}

// render is one line as the rows it takes.
func (v *Log) render(line logbuf.Line, number int) []string {
	th := v.Theme
	icon, style := v.icon(line)
	lead := v.stamp(line.Time) + style.Render(icon) + " "
	_, runs := text.LogLine(line.Raw)
	switch line.Severity {
	case logbuf.Error:
	case logbuf.Process:
		style = th.Info
	default:
		style = th.Text // the icon says what is left
	}
	matches := v.Search.Pattern.Matches(line.Text)
	p := painter{log: v, line: line.Text, runs: runs, matches: matches, style: style, current: number == v.Search.Hit}
	if !v.Wrap {
		return []string{lead + v.slid(p)}
	}
	var rows []string
	for i, part := range text.Rows(line.Text, v.room(), v.Widths) {
		if i > 0 {
			lead = strings.Repeat(" ", v.gutter()-iconWidth) + th.Dim.Render(th.Continued) + " "
		}
		rows = append(rows, lead+p.paint(part))
	}
	return rows
}

// slid is the part of a line in sight when lines are not wrapped.
func (v *Log) slid(p painter) string {
	room, th := v.room(), v.Theme
	part, skipped := text.Window(p.line, v.Left, room, v.Widths)
	cut := ""
	if part.To < len(p.line) {
		part, skipped = text.Window(p.line, v.Left, room-text.Width(th.Ellipsis), v.Widths)
		cut = th.Dim.Render(th.Ellipsis)
	}
	return strings.Repeat(" ", skipped) + p.paint(part) + cut
}

// icon is the sign of a line.
func (v *Log) icon(line logbuf.Line) (string, theme.Style) {
	th := v.Theme
	switch {
	case line.Severity == logbuf.Error, line.Level == logbuf.Failure:
		return th.Failed, th.Bad
	case line.Severity == logbuf.Success:
		return th.Done, th.Good
	case line.Level == logbuf.Warn:
		return th.Warning, th.Warn
	case line.Severity == logbuf.Process:
		return th.Dot, th.Info
	}
	return " ", th.Text
}

// stamp is the time before a line.
func (v *Log) stamp(at time.Time) string {
	if v.gutter() == iconWidth {
		return ""
	}
	stamp := ""
	if !at.IsZero() {
		stamp = at.In(v.zone()).Format("15:04:05")
		if v.Times == TimeSinceStart {
			stamp = "+" + Ticking(max(0, at.Sub(v.start())))
		}
	}
	return v.Theme.Dim.Render(text.PadLeft(stamp, timeWidth-1, "")) + " "
}

// start is the time of the first line.
func (v *Log) start() time.Time {
	if lines := v.Buffer.Lines(0, 1); len(lines) > 0 {
		return lines[0].Time
	}
	return time.Time{}
}

func (v *Log) zone() *time.Location {
	if v.Zone == nil {
		return time.Local
	}
	return v.Zone
}

// folded stands for the lines of a script between two lines in sight.
func (v *Log) folded(line, next int) []string {
	hidden := next - line - 1
	if hidden <= 0 || v.Least != logbuf.Debug || v.Search.Only {
		return nil
	}
	mark := fmt.Sprintf("%s %d lines of the script, enter unfolds", v.Theme.Folded, hidden)
	return []string{strings.Repeat(" ", v.gutter()) + v.Theme.Dim.Render(mark)}
}

// rowsOf is the height of one line in rows.
func (v *Log) rowsOf(line logbuf.Line) int {
	if !v.Wrap {
		return 1
	}
	return len(text.Rows(line.Text, v.room(), v.Widths))
}

// painter draws parts of one line: its own colours, and what the search has found.
type painter struct {
	log     *Log
	line    string
	runs    []text.Run
	matches [][2]int
	style   theme.Style
	// current: the search stands at this line.
	current bool
}

// paint draws a part.
func (p painter) paint(part text.Span) string {
	if len(p.runs) == 0 && len(p.matches) == 0 {
		return p.style.Render(p.line[part.From:part.To])
	}
	// Where the style may change.
	edges := []int{part.From, part.To}
	for _, run := range p.runs {
		edges = append(edges, run.Start)
	}
	for _, match := range p.matches {
		edges = append(edges, match[0], match[1])
	}
	slices.Sort(edges)
	var out strings.Builder
	for i, from := range edges[:len(edges)-1] {
		to := edges[i+1]
		if from >= part.From && to <= part.To && from < to {
			out.WriteString(p.piece(from, to))
		}
	}
	return out.String()
}

// piece draws bytes that have one style.
func (p painter) piece(from, to int) string {
	piece := p.line[from:to]
	th := p.log.Theme
	for _, match := range p.matches {
		if from >= match[0] && to <= match[1] {
			if p.current {
				return th.Match.Underline().Render(piece)
			}
			return th.Match.Render(piece)
		}
	}
	own := text.Style{}
	for _, run := range p.runs {
		if run.Start <= from {
			own = run.Style
		}
	}
	if own == (text.Style{}) {
		return p.style.Render(piece)
	}
	return th.Foreign(own).Render(piece)
}
