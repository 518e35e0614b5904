// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Components shows the parts of the environment: as steps while it starts, as a list of facts later.
type Components struct {
	Theme theme.Theme
	Title string
	List  []*deckv1.Component
	// Problems are listed below the components, with what to do about each.
	Problems []*deckv1.Problem
	// Pipeds are listed among the facts where there are several.
	Pipeds []*deckv1.Piped
	// Environment adds its facts below; nil adds none.
	Environment *deckv1.Environment
	// Waiting is shown while nothing is known yet, with the time since Since.
	Waiting string
	Since   time.Time
	Now     time.Time
	// None is said instead of an empty list that is filtered; "" otherwise.
	None string
	// Frame of the spinner.
	Frame   int
	Focused bool
	// Up is how many lines the reader has gone up from what matters most, or down when negative; see Reach.
	Up int
}

// ComponentWord is the state of a component, as a filter finds it.
func ComponentWord(c *deckv1.Component) string {
	return componentBadge(theme.Theme{Glyphs: theme.Glyphs{Spinner: []string{""}}}, c.GetState(), 0).word
}

// barWidth is the width of a progress bar.
const barWidth = 24

// Draw returns width columns and height lines.
func (v Components) Draw(width, height int) string {
	th := v.Theme
	frame := box{theme: th, title: v.Title, focused: v.Focused}
	if !v.Since.IsZero() {
		frame.right = th.Dim.Render(Duration(max(0, v.Now.Sub(v.Since))))
	}
	inner := width
	lines, active := v.lines(inner)
	room := height - 1
	if len(lines) > room {
		// What happens now stays in sight; the reader can go elsewhere.
		from, _ := window(len(lines), room, active, active)
		from = max(0, min(len(lines)-room, from-v.Up))
		frame.total, frame.top, frame.shown = len(lines), from, room
		lines = lines[from:]
	}
	return frame.titled(lines, width, height)
}

// Reach returns the bounds of Up in that room: how far the reader can go down, as a negative number, and up.
func (v Components) Reach(width, height int) (down, up int) {
	lines, active := v.lines(width)
	room := height - 1
	if len(lines) <= room {
		return 0, 0
	}
	from, _ := window(len(lines), room, active, active)
	return from - (len(lines) - room), from
}

// lines are all lines; active is the one that matters most.
func (v Components) lines(width int) (lines []string, active int) {
	lines, active = v.steps(width)
	if problems := v.problems(width); len(problems) > 0 {
		active = len(lines)
		lines = append(lines, problems...)
	}
	return append(lines, v.facts(width)...), active
}

// steps draws one line for each component, and more where there is more to show; active is the line
// that matters most.
func (v Components) steps(width int) (lines []string, active int) {
	th := v.Theme
	lines = []string{""}
	if len(v.List) == 0 && v.None != "" {
		return append(lines, empty(th, v.None, "", width)...), 1
	}
	if len(v.List) == 0 {
		badge := componentBadge(th, deckv1.Component_STATE_STARTING, v.Frame)
		return append(lines, "  "+badge.dot()+" "+v.Waiting), 1
	}
	if width < minColumns {
		return v.narrowSteps(width)
	}
	name := 12
	for _, c := range v.List {
		name = max(name, text.Width(c.GetName()))
	}
	name = min(name, max(12, width/3))
	for _, c := range v.List {
		badge := componentBadge(th, c.GetState(), v.Frame)
		if c.GetState() == deckv1.Component_STATE_STARTING || c.GetState() == deckv1.Component_STATE_FAILED {
			active = len(lines)
		}
		nameStyle := th.Text
		switch c.GetState() {
		case deckv1.Component_STATE_STARTING:
			nameStyle = th.Strong
		case deckv1.Component_STATE_FAILED:
			nameStyle = th.Bad
		case deckv1.Component_STATE_DEGRADED:
			nameStyle = th.Warn
		case deckv1.Component_STATE_PENDING, deckv1.Component_STATE_UNSPECIFIED:
			nameStyle = th.Idle
		}
		took := ""
		if elapsed := state.Elapsed(c.GetStartedAt(), c.GetEndedAt(), v.Now); elapsed > 0 || c.GetEndedAt().IsValid() {
			took = Duration(elapsed)
		}
		detail := text.Line(c.GetDetail())
		if c.GetState() == deckv1.Component_STATE_FAILED {
			detail = "failed"
		}
		if c.GetState() == deckv1.Component_STATE_DEGRADED {
			detail = "degraded" // the problems below say why
		}
		// Why a cluster is of another kind than expected is long, and matters.
		column := 4 + name + 1 + durationWidth + 2
		parts := text.Wrap(detail, max(16, width-column-2))
		lines = append(lines, "  "+badge.dot()+" "+nameStyle.Render(text.Pad(c.GetName(), name, th.Ellipsis))+" "+
			th.Dim.Render(text.PadLeft(took, durationWidth, ""))+"  "+th.Dim.Render(parts[0]))
		for _, part := range parts[1:] {
			lines = append(lines, strings.Repeat(" ", column)+th.Dim.Render(part))
		}
		lines = append(lines, v.more(c, width)...)
	}
	return lines, active
}

// narrowSteps are the parts on a narrow screen: a line for each, and more about those that are not ready.
func (v Components) narrowSteps(width int) (lines []string, active int) {
	th := v.Theme
	for _, c := range v.List {
		badge := componentBadge(th, c.GetState(), v.Frame)
		if c.GetState() != deckv1.Component_STATE_READY && c.GetState() != deckv1.Component_STATE_PENDING {
			active = len(lines)
		}
		lines = append(lines, " "+badge.dot()+" "+th.Text.Render(c.GetName()))
		if c.GetState() == deckv1.Component_STATE_STARTING {
			for _, part := range text.Wrap(text.Line(c.GetDetail()), max(1, width-3)) {
				lines = append(lines, "   "+th.Dim.Render(part))
			}
		}
		lines = append(lines, v.more(c, width)...)
	}
	return lines, active
}

// more is a progress bar, or what went wrong and what to do.
func (v Components) more(c *deckv1.Component, width int) []string {
	th := v.Theme
	const indent = "    "
	if c.GetState() == deckv1.Component_STATE_FAILED {
		return v.cause(th.Bad, c.GetDetail(), c.GetHint(), width)
	}
	if c.GetState() == deckv1.Component_STATE_STARTING && c.GetTotal() > 0 {
		return []string{indent + bar(th, c.GetDone(), c.GetTotal(), max(1, min(barWidth, width-16)))}
	}
	return nil
}

// problems are the causes that no failed component shows already.
func (v Components) problems(width int) (lines []string) {
	for _, p := range v.Problems {
		if slices.ContainsFunc(v.List, func(c *deckv1.Component) bool {
			return c.GetName() == p.GetComponent() && c.GetState() == deckv1.Component_STATE_FAILED &&
				c.GetDetail() == p.GetReason()
		}) {
			continue
		}
		age := Duration(max(0, v.Now.Sub(p.GetSince().AsTime())))
		lines = append(lines, "",
			"  "+signed(v.Theme.Tones.Warn, v.Theme.Warning, text.Line(p.GetPart()))+v.Theme.Dim.Render("  for "+age))
		lines = append(lines, v.cause(v.Theme.Text, p.GetReason(), p.GetNextStep(), width)...)
	}
	return lines
}

// cause is what went wrong and what to do.
func (v Components) cause(style theme.Style, reason, nextStep string, width int) (lines []string) {
	const indent = "    "
	for _, line := range text.Wrap(text.Clean(reason), width-6) {
		lines = append(lines, indent+style.Render(line))
	}
	if nextStep == "" {
		return lines
	}
	for i, line := range text.Wrap(text.Clean(nextStep), width-8) {
		lead := v.Theme.Arrow + " "
		if i > 0 {
			lead = "  "
		}
		lines = append(lines, indent+v.Theme.Warn.Render(lead+line))
	}
	return lines
}

func bar(th theme.Theme, done, total int64, width int) string {
	done = max(0, min(done, total))
	full := int(int64(width) * done / total)
	return th.Tones.Good.Sign(strings.Repeat(th.Full, full)) +
		th.Tones.Idle.Sign(strings.Repeat(th.Empty, width-full)) +
		fmt.Sprintf(" %3d%%", 100*done/total)
}

// facts are what a user needs to work with the environment from outside.
func (v Components) facts(width int) []string {
	e := v.Environment
	if e == nil {
		return nil
	}
	lines := []string{""}
	for _, fact := range slices.Concat(clusterFacts(e), []fact{
		{"repository", join("  ", e.GetRepository(), e.GetBranch(), liveWord(e))},
		{"edit", e.GetEditHint()},
		{"control plane", e.GetAddress()},
		{"state", e.GetStateDir()},
		{"version", e.GetVersion()},
	}, pipedFacts(v.Pipeds)) {
		if fact.value == "" {
			continue
		}
		if width < minColumns {
			lines = append(lines, " "+v.Theme.Dim.Render(fact.label))
			for _, part := range text.Chop(fact.value, max(1, width-3)) {
				lines = append(lines, "   "+part)
			}
			continue
		}
		for i, part := range text.Chop(fact.value, max(8, width-20)) {
			label := fact.label
			if i > 0 {
				label = ""
			}
			lines = append(lines, "  "+v.Theme.Dim.Render(text.Pad(label, 14, ""))+" "+part)
		}
	}
	return lines
}

// fact is a value with its name.
type fact struct{ label, value string }

// pipedFacts list the pipeds where there are several.
func pipedFacts(pipeds []*deckv1.Piped) []fact {
	if len(pipeds) < 2 {
		return nil
	}
	var facts []fact
	for _, p := range pipeds {
		facts = append(facts, fact{"piped", join("  ", p.GetName(), PipedState(p.GetState()), p.GetVersion())})
	}
	return facts
}

// PipedState is the state of a piped in words.
func PipedState(state deckv1.Piped_State) string {
	switch state {
	case deckv1.Piped_STATE_CONNECTED:
		return "connected"
	case deckv1.Piped_STATE_DISCONNECTED:
		return "disconnected"
	case deckv1.Piped_STATE_DISABLED:
		return "disabled"
	}
	return "not connected yet"
}

// clusterFacts name the clusters only where there are several.
func clusterFacts(e *deckv1.Environment) []fact {
	var facts []fact
	for _, c := range e.GetClusters() {
		kind, kubeconfig := c.GetKind(), ""
		if len(e.GetClusters()) > 1 {
			kind = c.GetName() + ", " + kind
		}
		if c.GetSimulated() {
			kind += " (simulated: no container runs)"
		}
		if c.GetLocalPods() {
			kind += " (built images run as local processes)"
		}
		if c.GetKubeconfig() != "" {
			kubeconfig = "export KUBECONFIG=" + c.GetKubeconfig()
		}
		facts = append(facts, fact{"cluster", kind}, fact{"kubectl", kubeconfig})
	}
	return facts
}

func liveWord(e *deckv1.Environment) string {
	if e.GetLive() {
		return "live: saved files are deployed"
	}
	return ""
}
