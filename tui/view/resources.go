// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Resources is the tree of what lives of an application, above what is known of the selected one.
type Resources struct {
	Theme       theme.Theme
	Application *deckv1.Application
	Rows        []state.TreeRow
	Selected    int
	Now         time.Time
	// Waiting is said instead of the tree; Trouble above it.
	Waiting, Trouble string
	// PutBack says how the selected resource is put back, or why it cannot be; empty for one that is as in Git.
	PutBack string
	// Open: the details of the selected resource have the whole pane, from their line Top.
	Open bool
	Top  int
}

type treeRow = state.TreeRow

// ResourceWord is the health of a resource, as a filter finds it; "drifted" where it is not as in Git.
func ResourceWord(r *deckv1.Resource) string {
	if r.GetDrift() != "" {
		return "drifted"
	}
	return healthBadge(theme.Theme{}, r.GetHealth()).word
}

// leastNote is the least room of a note next to a resource, in columns; the name of the resource is cut for it.
const leastNote = 12

// detailHeight is what the details of the selected resource take, with their title.
const detailHeight = 7

// Draw returns width columns and height lines. Only the rows that fit are drawn.
func (v Resources) Draw(width, height int) string {
	switch {
	case v.Open && len(v.Rows) > 0:
		return v.details(width, height)
	case len(v.Rows) == 0 || height < detailHeight+6:
		return v.tree(width, height)
	}
	below := detailHeight
	if v.drifted() { // the same for all rows: moving through them must not move the tree
		below = max(below, height*3/5)
	}
	return v.tree(width, height-below) + "\n" + v.details(width, below)
}

// Fit returns how many lines of the details are shown of how many, when they are open in that room.
func (v Resources) Fit(width, height int) (page, all int) {
	if len(v.Rows) == 0 {
		return 0, 0
	}
	all = len(v.facts(width))
	return max(1, min(height-1, all)), all
}

func (v Resources) tree(width, height int) string {
	th, inner := v.Theme, width
	frame := box{theme: th, title: "Resources", focused: true}
	if name := v.Application.GetName(); name != "" {
		frame.title += " of " + name
	}
	var lines []string
	if v.Trouble != "" {
		lines = append(lines, " "+th.Bad.Render(text.Line(v.Trouble)))
	}
	if note := lookNote(v.Application, v.Now); note != "" {
		for _, line := range text.Wrap(note, max(8, inner-2)) {
			lines = append(lines, " "+th.Warn.Render(line))
		}
	}
	if len(v.Rows) == 0 {
		lines = append(lines, "")
		for _, line := range text.Wrap(v.Waiting, inner-2) {
			lines = append(lines, " "+th.Dim.Render(line))
		}
		return frame.titled(lines, width, height)
	}
	frame.right, frame.short = v.sum(), th.Dim.Render(fmt.Sprint(len(v.Rows)))
	from, to := window(len(v.Rows), height-1-len(lines), v.Selected, v.Selected)
	frame.total, frame.top, frame.shown = len(v.Rows), from, to-from
	several := v.severalTargets()
	for i := from; i < to; i++ {
		line := v.line(v.Rows[i], several, inner)
		if i == v.Selected {
			line = mark(th, line, inner, true, healthBadge(th, v.Rows[i].GetHealth()).style)
		}
		lines = append(lines, line)
	}
	return frame.titled(lines, width, height)
}

// sum is "12 · 1 unhealthy · 2 drifted".
func (v Resources) sum() string {
	th, c := v.Theme, v.Application.GetResources()
	parts := []string{th.Dim.Render(fmt.Sprint(len(v.Rows)))}
	if n := c.GetUnhealthy(); n > 0 {
		parts = append(parts, th.Bad.Render(fmt.Sprintf("%d unhealthy", n)))
	}
	if n := c.GetUnknown(); n > 0 {
		parts = append(parts, th.Warn.Render(fmt.Sprintf("%d unknown", n)))
	}
	if n := c.GetDrifted(); n > 0 {
		parts = append(parts, th.Warn.Render(fmt.Sprintf("%d drifted", n)))
	}
	return strings.Join(parts, th.Dim.Render(" "+th.Dot+" "))
}

// severalTargets reports whether the tree has resources of more than one deploy target, whose names may be the same.
func (v Resources) severalTargets() bool {
	return slices.ContainsFunc(v.Rows,
		func(row state.TreeRow) bool { return row.GetDeployTarget() != v.Rows[0].GetDeployTarget() })
}

// line draws a row; where there are several targets, the top of each tree names its own.
func (v Resources) line(row state.TreeRow, severalTargets bool, width int) string {
	th := v.Theme
	badge := healthBadge(th, row.GetHealth())
	var rails strings.Builder
	for i := 1; i < len(row.Rails); i++ {
		rails.WriteString(map[bool]string{true: th.Rail + "  ", false: "   "}[row.Rails[i]])
	}
	if len(row.Rails) > 0 {
		rails.WriteString(map[bool]string{true: th.Last, false: th.Fork}[row.Last] + " ")
	}
	left := " " + th.Dim.Render(rails.String()) + badge.dot() + " " + th.Dim.Render(row.GetKind()) + " " + row.GetName()
	if _, target, _ := strings.Cut(row.GetDeployTarget(), "/"); severalTargets && len(row.Rails) == 0 {
		left += th.Dim.Render(" at " + text.Line(target))
	}
	right, room := "", max(leastNote, width-text.Width(left)-3)
	switch {
	case row.GetDrift() != "":
		right = text.Cut(signed(th.Tones.Warn, th.Differs, text.Line(row.GetDrift())), room, th.Ellipsis) + " "
	case badge.word == "unhealthy":
		right = th.Bad.Render(text.Cut(text.Line(row.GetHealthReason()), room, th.Ellipsis)) + " "
	case row.GetHealthReason() != "": // how a hook ended, for one
		right = th.Dim.Render(text.Cut(text.Line(row.GetHealthReason()), room, th.Ellipsis)) + " "
	}
	return split(th, left, right, width)
}

// selected is the resource of the details.
func (v Resources) selected() *deckv1.Resource {
	return v.Rows[min(max(0, v.Selected), len(v.Rows)-1)].Resource
}

func (v Resources) details(width, height int) string {
	th, r, lines := v.Theme, v.selected(), v.facts(width)
	name := r.GetName()
	if r.GetNamespace() != "" {
		name = r.GetNamespace() + "/" + name
	}
	frame := box{theme: th, title: r.GetKind() + " " + name, focused: v.Open}
	if n := len(r.GetFields()) + int(r.GetMoreFields()); n > 0 {
		frame.title = "Drift of " + frame.title
		frame.right = th.Warn.Render(Count(n, "field"))
		frame.short = frame.right
	}
	frame.shown, frame.total = min(height-1, len(lines)), len(lines)
	if v.Open {
		frame.top = max(0, min(v.Top, len(lines)-frame.shown))
	} else if frame.total > frame.shown {
		frame.right = join("  ", frame.right, th.Dim.Render("enter: all"))
	}
	return frame.titled(lines[frame.top:], width, height)
}

// facts are all lines about the selected resource.
func (v Resources) facts(width int) []string {
	th, r := v.Theme, v.selected()
	badge := healthBadge(th, r.GetHealth())
	where := "at " + r.GetDeployTarget()
	// What is missing has no health, so its plugin gives the drift as the reason; the time is that of the
	// report.
	missing := r.GetDrift() != "" && r.GetHealthReason() == r.GetDrift()
	if r.GetCreatedAt().IsValid() && !missing {
		where += ", created " + Age(state.Elapsed(r.GetCreatedAt(), nil, v.Now))
	}
	state := badge.style.Render(badge.icon + " " + cmp.Or(badge.word, "unknown"))
	lines := []string{" " + state + th.Dim.Render("  "+where)}
	add := func(style func(string) string, what string) {
		for _, line := range text.Wrap(text.Line(what), max(8, width-2)) {
			lines = append(lines, " "+style(line))
		}
	}
	if r.GetHealthReason() != "" && !missing {
		add(badge.style.Render, r.GetHealthReason())
	}
	fields := Drift{Theme: th, Resource: r}.Lines(width)
	switch {
	case len(fields) > 0:
		lines = append(append(lines, ""), fields...)
	case r.GetDrift() != "":
		add(th.Warn.Render, "not as in Git: "+r.GetDrift())
	}
	if v.PutBack != "" {
		if len(fields) > 0 {
			lines = append(lines, "")
		}
		add(th.Dim.Render, v.PutBack)
	}
	return lines
}
