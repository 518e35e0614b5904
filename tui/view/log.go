// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Search is a search in a log.
type Search struct {
	// Query is what was searched, Notice the outcome.
	Query  logbuf.Query
	Notice string
	// Line draws what is being typed; nil when nothing is.
	Line func(width int) string
}

// Reading is where the reader of a log is.
type Reading struct {
	// Following keeps the end in sight.
	Following bool
	// Held: the stage was chosen by hand, and stays when others start. News says what happens elsewhere meanwhile.
	Held bool
	News string
	// Left is the first column shown of lines that are not wrapped.
	Left int

	// top is the first line shown and sub the row within it, when not following; lines from seen on are new.
	top, sub, seen int
}

// Log shows the log of one stage. It keeps the place of the reader in it.
type Log struct {
	Theme theme.Theme
	// Zone is the zone of the times that are shown; nil means local.
	Zone *time.Location
	// Stage is the name of the stage; empty when none is selected.
	Stage string
	// Buffer is nil when there is nothing to show.
	Buffer  *logbuf.Buffer
	Focused bool
	// Complete: no more lines will come. Truncated: the control plane left lines out.
	Complete, Truncated bool
	// Trouble is shown when the log cannot be read.
	Trouble string
	// Waiting is shown while there is no line.
	Waiting string

	Reading
	// Wrap breaks long lines; else they slide.
	Wrap   bool
	Search Search

	// width and height are those of the text, as last set.
	width, height int
}

const (
	// timeWidth is "15:04:05 " before each line, left out on narrow screens.
	timeWidth   = 9
	minTimeRoom = 60
	// iconWidth is the column for the severity and a space.
	iconWidth = 2
	// titleFrame is what the frame takes of the line of titles.
	titleFrame = 10
)

// Resize sets the size in which Draw will be called; scrolling depends on it.
func (v *Log) Resize(width, height int) {
	v.width, v.height = max(1, width-2), max(1, height-2)
	if v.Search.Line != nil || v.notice() != "" {
		v.height = max(1, v.height-1)
	}
}

// Rewind forgets the place and the last search, for another log.
func (v *Log) Rewind() {
	v.Reading = Reading{Following: true}
	v.Search.Query, v.Search.Notice = "", ""
}

func (v *Log) gutter() int {
	if v.width >= minTimeRoom {
		return timeWidth + iconWidth
	}
	return iconWidth
}

// Draw returns width columns and height lines.
func (v *Log) Draw(width, height int) string {
	v.Resize(width, height)
	th := v.Theme
	frame := box{theme: th, title: "3 Log", focused: v.Focused}
	if v.Stage != "" {
		const before = 8 // the columns of "3 Log · "
		frame.title += " " + th.Dot + " " + text.Cut(v.Stage, max(12, width*2/5-before), th.Ellipsis)
	}
	lines := v.rows(&frame)
	frame.right, frame.short = v.status(width - text.Width(frame.title) - titleFrame)
	if len(lines) == 0 {
		lines = v.empty()
	}
	for len(lines) < v.height {
		lines = append(lines, "")
	}
	switch {
	case v.Search.Line != nil:
		lines = append(lines[:v.height], v.Search.Line(v.width))
	case v.notice() != "":
		lines = append(lines[:v.height], " "+th.Warn.Render(v.notice()))
	}
	return frame.draw(lines, width, height)
}

// status reports where the reader is, whether the log goes on, and what happens out of sight; short leaves the place
// out.
func (v *Log) status(room int) (long, short string) {
	if v.Stage == "" || v.Buffer == nil {
		return "", ""
	}
	th := v.Theme
	_, next := v.Buffer.Span()
	place := lineCount(next)
	if !v.Following && next > v.height {
		place = fmt.Sprintf("line %s of %s", thousands(v.Place()+1), thousands(next))
	}
	state := []string{"following"}
	switch {
	case !v.Following:
		state = []string{"pinned"}
	case v.Held:
		state = []string{"stage pinned"}
	}
	if v.Truncated {
		state = slices.Insert(state, 0, "start cut off")
	} else if v.Complete {
		state = slices.Insert(state, 0, "complete")
	}
	var news []string
	if below := next - v.seen; !v.Following && below > 0 {
		news = append(news, thousands(below)+" new below")
	}
	if v.News != "" {
		news = append(news, v.News)
	}
	join := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), " "+th.Dot+" ") }
	style := th.Dim
	if len(news) > 0 {
		style = th.Strong
	}
	last := state[len(state)-1:]
	for _, choice := range []string{join([]string{place}, state, news), join(state, news), join(last, news)} {
		if text.Width(choice) <= room {
			return style.Render(choice), style.Render(join(last))
		}
	}
	return style.Render(join(news)), style.Render(join(last))
}

func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return thousands(n) + " lines"
}

// notice is the line below the text: what is wrong with it, or the outcome of a search.
func (v *Log) notice() string {
	if v.Trouble != "" && v.Buffer != nil {
		if first, next := v.Buffer.Span(); next > first {
			return v.Trouble
		}
	}
	return v.Search.Notice
}

func (v *Log) empty() []string {
	switch {
	case v.Trouble != "":
		var lines []string
		for _, line := range text.Wrap(v.Trouble, v.width-2) {
			lines = append(lines, " "+v.Theme.Bad.Render(line))
		}
		return lines
	case v.Waiting != "":
		return []string{" " + v.Theme.Dim.Render(v.Waiting)}
	}
	return nil
}

// rows are the lines in sight, wrapped or cut, the first to show first.
func (v *Log) rows(frame *box) []string {
	if v.Buffer == nil {
		return nil
	}
	first, next := v.Buffer.Span()
	if next == first {
		return nil
	}
	top, sub := v.position()
	var rows []string
	shown := 0
	for n, line := range v.Buffer.Lines(top, v.height) {
		parts := v.render(line)
		if n == 0 {
			parts = parts[min(sub, len(parts)-1):]
		}
		rows = append(rows, parts...)
		if shown++; len(rows) >= v.height {
			rows = rows[:v.height]
			break
		}
	}
	frame.total, frame.top, frame.shown = next-first, top-first, shown
	v.seen = max(v.seen, top+shown)
	return rows
}

// render is one line as the rows it takes.
func (v *Log) render(line logbuf.Line) []string {
	th := v.Theme
	icon, style := " ", th.Text
	switch line.Severity {
	case logbuf.Success:
		icon, style = th.Done, th.Good
	case logbuf.Error:
		icon, style = th.Failed, th.Bad
	}
	lead := style.Render(icon) + " "
	if v.gutter() > iconWidth {
		stamp := strings.Repeat(" ", timeWidth-1)
		if !line.Time.IsZero() {
			stamp = line.Time.In(v.zone()).Format("15:04:05")
		}
		lead = th.Dim.Render(stamp) + " " + lead
	}
	room := max(1, v.width-v.gutter())
	if !v.Wrap {
		shown := text.CutLeft(line.Text, max(0, text.Width(line.Text)-v.Left), "")
		return []string{lead + v.highlight(text.Cut(shown, room, th.Ellipsis), style)}
	}
	var rows []string
	for i, part := range text.Chop(line.Text, room) {
		if i > 0 {
			lead = strings.Repeat(" ", v.gutter()-iconWidth) + th.Dim.Render(th.Continued) + " "
		}
		rows = append(rows, lead+v.highlight(part, style))
	}
	return rows
}

func (v *Log) highlight(part string, style lipgloss.Style) string {
	var out strings.Builder
	at := 0
	for _, match := range v.Search.Query.Matches(part) {
		out.WriteString(style.Render(part[at:match[0]]))
		out.WriteString(v.Theme.Match.Render(part[match[0]:match[1]]))
		at = match[1]
	}
	if at < len(part) {
		out.WriteString(style.Render(part[at:]))
	}
	return out.String()
}

// height of one line in rows.
func (v *Log) rowsOf(line logbuf.Line) int {
	if !v.Wrap {
		return 1
	}
	return len(text.Chop(line.Text, max(1, v.width-v.gutter())))
}

func (v *Log) zone() *time.Location {
	if v.Zone == nil {
		return time.Local
	}
	return v.Zone
}
