// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Search is a search in a log.
type Search struct {
	// Pattern is what is looked for. Hit is the line at which the search stands, -1 without one.
	Pattern logbuf.Pattern
	Hit     int
	// Only leaves the lines out that are not among Hits, which are the numbers of lines in order.
	Only bool
	Hits []int
	// Notice is said below the text.
	Notice string
	// Line draws the line above the text: what is typed or looked for; nil when there is none.
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
	selection      lineSelection
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
	// Waiting is shown while no line is.
	Waiting string

	Reading
	// Wrap breaks long lines; else they slide.
	Wrap bool
	// Least is the least level of the lines shown.
	Least logbuf.Level
	Times Times
	// Widths is how the terminal counts the columns of characters.
	Widths ansi.Method
	Search Search

	// width and height are those of the text, as last set; large: it was drawn for Big.
	width, height int
	large         bool
}

// titleFrame is what the lines around the titles take.
const titleFrame = 7

// Resize sets the size in which Draw will be called; scrolling depends on it.
func (v *Log) Resize(width, height int) { v.resize(width-1, height-1) }

// resize sets the size of what stands below the title.
func (v *Log) resize(width, height int) {
	v.width, v.height = max(1, width), max(1, height)
	if v.Search.Line != nil {
		v.height = max(1, v.height-1)
	}
	if v.notice() != "" {
		v.height = max(1, v.height-1)
	}
}

// Rewind forgets the place and the last search, for another log.
func (v *Log) Rewind() {
	v.Reading = Reading{Following: true}
	v.Search.Pattern, v.Search.Hit, v.Search.Notice = logbuf.Pattern{}, -1, ""
	v.Search.Only, v.Search.Hits = false, nil
}

// Draw returns width columns and height lines.
func (v *Log) Draw(width, height int) string {
	v.large = false
	v.Resize(width, height)
	th := v.Theme
	frame := box{theme: th, title: "3 Log", focused: v.Focused}
	if v.Stage != "" {
		const before = 8 // the columns of "3 Log · "
		frame.title += " " + th.Dot + " " + text.Cut(v.Stage, max(12, width*2/5-before), th.Ellipsis)
	}
	lines := v.content()
	frame.right, frame.short = v.status(width - text.Width(frame.title) - titleFrame)
	frame.widths = &v.Widths
	return frame.titled(lines, width, height)
}

// content is what stands below the title.
func (v *Log) content() []string {
	lines, numbers := v.rows()
	for i, line := range lines {
		switch {
		case v.large:
		case v.selection.has(numbers[i]), !v.Search.Pattern.Empty() && numbers[i] == v.Search.Hit && numbers[i] >= 0:
			lines[i] = v.Theme.Tones.Focus.Sign(v.Theme.Mark) + line
		default:
			lines[i] = " " + line
		}
	}
	if len(lines) == 0 {
		lines = v.empty()
	}
	for len(lines) < v.height {
		lines = append(lines, "")
	}
	if v.Search.Line != nil {
		lines = slices.Insert(lines, 0, v.Search.Line(v.width))
	}
	if v.notice() != "" {
		lines = append(lines, " "+v.Theme.Warn.Render(text.Cut(v.notice(), v.width-1, v.Theme.Ellipsis)))
	}
	return lines
}

// bigApart is the least height in which the lines of a large log have blank ones between them.
const bigApart = 12

// big returns at most height lines of at most width columns for Big: without times, and apart where there is room.
func (v *Log) big(width, height int) []string {
	v.large = true
	if height < bigApart {
		v.resize(width, height)
		return v.content()
	}
	v.resize(width, (height+1)/2)
	var lines []string
	for _, line := range v.content() {
		lines = append(lines, line, "")
	}
	return lines[:min(len(lines), height)]
}

// status reports where the reader is, whether the log goes on, and what happens out of sight; short leaves the place
// out.
func (v *Log) status(room int) (long, short string) {
	if v.Stage == "" || v.Buffer == nil {
		return "", ""
	}
	th := v.Theme
	_, next := v.Buffer.Span()
	place := Count(next, "line")
	if v.Search.Only {
		place = thousands(len(v.Search.Hits)) + " of " + place
	} else if v.Least > logbuf.Debug {
		place = thousands(v.Buffer.Count(v.Least)) + " of " + place
	} else if !v.Following && next > v.height {
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
		var lines []string
		for _, line := range text.Wrap(v.Waiting, max(1, v.width-2)) {
			lines = append(lines, " "+v.Theme.Dim.Render(line))
		}
		return lines
	}
	return nil
}
