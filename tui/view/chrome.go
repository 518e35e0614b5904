// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Header is the first line of the screen.
type Header struct {
	Theme theme.Theme
	// Name of the environment, Version of the program.
	Name, Version string
	// Clusters of the environment; nil until they are known.
	Clusters []*deckv1.Cluster
	// Ready of All parts run; Failed of them do not.
	Ready, All, Failed int
	// Problems are the causes why the environment is degraded, the oldest first.
	Problems []*deckv1.Problem
	// Away says that the environment has stopped or does not answer: then all else is what was known before.
	Away string
	// Hint is what to do about a failure or problem.
	Hint string
	// Starting is the part that keeps the others waiting, and how far it is; "" when the number says enough.
	Starting string
}

// Calm reports whether all parts of the environment work.
func (v Header) Calm() bool {
	return v.Away == "" && len(v.Problems) == 0 && v.Failed == 0 && v.Starting == "" && v.Ready == v.All
}

// Draw returns one line of width columns.
func (v Header) Draw(width int) string {
	th := v.Theme
	left := th.Brand.Render(" pipedeck ") + " " + th.Strong.Render(v.Name)
	switch {
	case len(v.Clusters) == 0, len(v.Problems) > 0: // a cause needs the room
	case len(v.Clusters) == 1:
		kind := v.Clusters[0].GetKind()
		if kind == "none" {
			kind = "no"
		}
		left += th.Dim.Render(" " + th.Dot + " " + kind + " cluster")
	default:
		left += th.Dim.Render(fmt.Sprintf(" %s %d clusters", th.Dot, len(v.Clusters)))
	}
	parts := ""
	switch {
	case v.Away != "":
		parts = th.Bad.Render(th.Failed + " " + v.Away)
	case len(v.Problems) > 0:
		parts = signed(th.Tones.Warn, th.Warning, v.degraded(width-text.Width(left)-6))
	case v.Failed > 0:
		parts = signed(th.Tones.Bad, th.Failed, fmt.Sprintf("%d of %d parts failed", v.Failed, v.All)+v.Hint)
	case v.Starting != "":
		parts = signed(th.Tones.Running, th.Active, v.Starting)
	case v.All > 0 && v.Ready < v.All:
		parts = signed(th.Tones.Running, th.Active, fmt.Sprintf("%d of %d parts ready", v.Ready, v.All))
	case v.All > 0:
		parts = signed(th.Tones.Good, th.Done, fmt.Sprintf("%d parts ready", v.All))
	}
	right := parts
	if v.Version != "" && width >= 90 && len(v.Problems) == 0 {
		right += th.Dim.Render("  " + v.Version)
	}
	return split(th, left, right+" ", width)
}

// degraded counts the problems and names the first, in at most width columns where that is possible.
func (v Header) degraded(width int) string {
	count := fmt.Sprintf("degraded: %d problem", len(v.Problems))
	if len(v.Problems) > 1 {
		count += "s"
	}
	first := v.Problems[0]
	cause := ": " + text.Line(first.GetPart()+": "+first.GetReason())
	room := width - text.Width(count+v.Hint)
	if room < minCause {
		return count + v.Hint
	}
	return count + text.Cut(cause, room, v.Theme.Ellipsis) + v.Hint
}

// minCause is the least width in which a cause says something.
const minCause = 12

// Status is the line above the footer.
type Status struct {
	Theme theme.Theme
	// Banner takes the whole line: something is wrong with the screen itself.
	Banner string
	// Toast is the outcome of the last action, Bad when it failed; Remark when it is only a remark.
	Toast       string
	Bad, Remark bool
	// Typing is said while text is typed.
	Typing string
	// Simulated: no container runs.
	Simulated bool
	// Repository that is watched, and the file in it worth editing.
	Repository, Edit string
	// Unread: commits of the repository are not seen, since it is gone or broken.
	Unread bool
	// Live: saving a file is enough.
	Live bool
}

// Draw returns one line of width columns.
func (v Status) Draw(width int) string {
	th := v.Theme
	switch {
	case v.Banner != "":
		return th.Banner.Render(text.Pad(" "+v.Banner, width, th.Ellipsis))
	case v.Toast != "" && v.Bad:
		return text.Pad(" "+signed(th.Tones.Bad, th.Failed, v.Toast), width, th.Ellipsis)
	case v.Toast != "" && v.Remark:
		return th.Warn.Render(text.Pad(" "+v.Toast, width, th.Ellipsis))
	case v.Toast == "" && v.Typing != "":
		return th.Warn.Render(text.Pad(" "+v.Typing, width, th.Ellipsis))
	case v.Toast != "":
		return text.Pad(" "+signed(th.Tones.Good, th.Done, v.Toast), width, th.Ellipsis)
	}
	right := ""
	if v.Simulated {
		right = th.Warn.Render("simulated: no container runs") + " "
	}
	room := width - text.Width(right) - 2
	left := ""
	if v.Repository != "" {
		verb, path := "watching ", v.Repository
		tail := ""
		if v.Unread {
			verb, v.Edit = "cannot read ", ""
		}
		if v.Edit != "" {
			verb, path, tail = "edit ", strings.TrimSuffix(path, "/")+"/"+v.Edit, " and commit"
		}
		if v.Edit != "" && v.Live {
			tail = " and save"
		}
		left = " " + th.Dim.Render(verb) + text.CutLeft(path, max(8, room-text.Width(verb+tail)-1), th.Ellipsis) +
			th.Dim.Render(tail)
	}
	return split(th, left, right, width)
}

// Footer is the last line: the keys that do something.
type Footer struct {
	Theme    theme.Theme
	Bindings []keymap.Binding
}

// Draw returns one line of width columns; what does not fit is left out, the least useful first.
func (v Footer) Draw(width int) string {
	th := v.Theme
	line, used := "", 0
	for _, b := range v.Bindings {
		size := text.Width(b.Name()) + 1 + text.Width(b.Short) + 3
		if used+size > width {
			continue
		}
		line += " " + th.Key.Render(b.Name()) + " " + th.Dim.Render(b.Short) + "  "
		used += size
	}
	return text.Pad(line, width, "")
}
