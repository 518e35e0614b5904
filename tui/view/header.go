// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
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
	// Attention counts applications and plugins.
	Attention state.Attention
	// Problems are the causes why the environment is degraded, the oldest first.
	Problems []*deckv1.Problem
	// Away says that the environment has stopped or does not answer: then all else is what was known before.
	Away string
	// Silent says for how long the environment has sent nothing.
	Silent string
	// Held says which plugin a debugger holds, and where; empty for none.
	Held string
	// Hint is what to do about a failure or problem.
	Hint string
	// Starting is the part that keeps the others waiting, and how far it is; "" when the number says enough.
	Starting string
}

// Calm reports whether all parts and plugins of the environment work.
func (v Header) Calm() bool {
	return v.Away == "" && v.Silent == "" && len(v.Problems) == 0 && v.Failed == 0 && v.Starting == "" &&
		v.Held == "" && v.Ready == v.All && v.Attention.FailedPlugins == 0
}

// Draw returns one line of width columns. Where not everything has room, the kind of the cluster is left out, then what
// the applications need is said in signs and numbers. Nothing is green while anything has failed.
func (v Header) Draw(width int) string {
	th := v.Theme
	name := th.Brand.Render(" pipedeck ") + " " + th.Strong.Render(v.Name)
	kind := name + th.Dim.Render(v.cluster())
	for _, apps := range v.applications() {
		for _, left := range []string{kind, name} {
			room := width - text.Width(left) - text.Width(apps) - 2
			right := apps + v.parts(room)
			if text.Width(left)+text.Width(right)+2 > width {
				continue
			}
			if version := th.Dim.Render("  " + v.Version); v.Version != "" && width >= 90 && len(v.Problems) == 0 &&
				text.Width(left)+text.Width(right)+text.Width(version)+2 <= width {
				right += version
			}
			return split(th, left, right+" ", width)
		}
	}
	return split(th, name, v.parts(width-text.Width(name)-2)+" ", width)
}

// cluster is the kind of the cluster; "" where a cause needs the room.
func (v Header) cluster() string {
	switch {
	case len(v.Clusters) == 0, len(v.Problems) > 0:
		return ""
	case len(v.Clusters) > 1:
		return fmt.Sprintf(" %s %d clusters", v.Theme.Dot, len(v.Clusters))
	}
	kind := v.Clusters[0].GetKind()
	if kind == "none" {
		kind = "no"
	}
	return " " + v.Theme.Dot + " " + kind + " cluster"
}

// applications are what the applications need, in words and in signs with numbers; empty when they need nothing.
func (v Header) applications() []string {
	th, a, long, short := v.Theme, v.Attention, "", ""
	for _, one := range []struct {
		n           int
		tone        theme.Tone
		sign, words string
	}{
		{a.FailedApplications, th.Tones.Bad, th.Failed, Count(a.FailedApplications, "app") + " failed"},
		{a.UnhealthyApplications, th.Tones.Warn, th.Warning, Count(a.UnhealthyApplications, "app") + " unhealthy"},
		{a.Waiting, th.Tones.Warn, th.Wait, fmt.Sprintf("%d %s for you", a.Waiting, waitWord(a.Waiting))},
	} {
		if one.n > 0 {
			long += signed(one.tone, one.sign, one.words) + "   "
			short += signed(one.tone, one.sign, fmt.Sprint(one.n)) + "  "
		}
	}
	if len(v.Problems) > 0 { // a cause needs the room
		return []string{short}
	}
	return []string{long, short}
}

func waitWord(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

// parts is the state of the parts of the environment and of its plugins, in about room columns.
func (v Header) parts(room int) string {
	th, a := v.Theme, v.Attention
	switch {
	case v.Away != "":
		return th.Bad.Render(th.Failed + " " + v.Away)
	case v.Silent != "":
		return signed(th.Tones.Warn, th.Warning, v.Silent)
	case len(v.Problems) > 0:
		return signed(th.Tones.Warn, th.Warning, v.degraded(room-2))
	case v.Failed > 0:
		return signed(th.Tones.Bad, th.Failed, fmt.Sprintf("%d of %d parts failed", v.Failed, v.All)+v.Hint)
	case a.FailedPlugins > 0:
		return signed(th.Tones.Bad, th.Failed, fmt.Sprintf("%d of %s failed", a.FailedPlugins,
			Count(a.Plugins, "plugin")))
	case v.Held != "":
		return signed(th.Tones.Warn, th.Wait, text.Cut(v.Held, max(minCause, room-2), th.Ellipsis))
	case v.Starting != "":
		return signed(th.Tones.Running, th.Active, v.Starting)
	case v.All > 0 && v.Ready < v.All:
		return signed(th.Tones.Running, th.Active, fmt.Sprintf("%d of %d parts ready", v.Ready, v.All))
	case a.RunningPlugins < a.Plugins:
		return signed(th.Tones.Running, th.Active, fmt.Sprintf("%d of %s running", a.RunningPlugins,
			Count(a.Plugins, "plugin")))
	case v.All == 0:
		return ""
	}
	ready := Count(v.All, "part")
	if a.Plugins > 0 {
		ready += ", " + Count(a.Plugins, "plugin")
	}
	if a.FailedApplications+a.UnhealthyApplications > 0 {
		return th.Dim.Render(ready + " ready")
	}
	return signed(th.Tones.Good, th.Done, ready+" ready")
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
