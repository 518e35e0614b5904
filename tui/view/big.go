// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Big is a screen for people far away from it: the stages of a deployment or one log alone, in few words.
type Big struct {
	Deployment
	// Log is shown instead of the stages; nil shows those.
	Log *Log
	// Alarm is the first line, of the whole width; "" leaves it blank.
	Alarm string
	// Simulated: no container of the application runs.
	Simulated bool
	// Said are the last lines, of the whole width, instead of the words about the selected stage.
	Said []string
	// Playback is the last line, of the whole width, about a recorded session; empty for an environment.
	Playback string
	// Hint names keys.
	Hint string
	// Find draws the line of a search in the stages; nil where there is none.
	Find func(width int) string
}

const (
	// bigMargin is blank on both sides.
	bigMargin = 2
	// bigLoose is the least height that has room for blank lines around the parts.
	bigLoose = 20
	// bigWide is the least width inside the margins that has room for letters apart, for bars and for keys.
	bigWide = 56
)

// Draw returns width columns and height lines; both are at least those of a screen with tabs.
func (v Big) Draw(width, height int) string {
	inner := width - 2*bigMargin
	rule := v.Theme.Border.Render(strings.Repeat(v.Theme.Heavy, inner))
	top, bottom := []string{v.title(inner), rule}, []string{rule, v.state(inner)}
	about, end := v.about(inner, 2), []string(nil)
	if height >= bigLoose {
		top, bottom = append(top, ""), append(bottom, "")
		about, end = v.about(inner, 3), []string{""}
	}
	if v.Playback != "" {
		end = []string{""} // where it stands
	}
	if len(v.Said) > 0 {
		about = []string{""} // which Said replaces
	}
	body := v.body(inner, height-1-len(top)-len(bottom)-len(about)-len(end))
	lines := []string{text.Pad(v.Alarm, width, v.Theme.Ellipsis)}
	for i, line := range slices.Concat(top, body.lines, bottom, about, end) {
		left := strings.Repeat(" ", bigMargin)
		if body.mark != "" && i == len(top)+body.marked {
			left = body.mark + left[1:]
		}
		lines = append(lines, left+v.pad(line, inner)+strings.Repeat(" ", bigMargin))
	}
	for i, line := range v.Said {
		lines[height-len(end)-len(v.Said)+i] = text.Pad(line, width, v.Theme.Ellipsis)
	}
	if v.Playback != "" {
		lines[height-1] = v.Playback
	}
	return strings.Join(lines, "\n")
}

// pad returns a line in exactly width columns, as the terminal counts those of a log.
func (v Big) pad(line string, width int) string {
	if v.Log == nil {
		return text.Pad(line, width, v.Theme.Ellipsis)
	}
	return box{theme: v.Theme, widths: &v.Log.Widths}.pad(line, width)
}

// title is what is shown: the application with the commit, or the stage whose log it is.
func (v Big) title(width int) string {
	th := v.Theme
	name, about := v.Deployment.Name, ""
	switch d := v.Deployment.Deployment; {
	case v.Log != nil && v.Log.Stage != "":
		name, about = v.Log.Stage, th.Dim.Render(v.Deployment.Name)
	case v.Earlier:
		about = th.Warn.Render("earlier one, esc: newest")
	case d != nil:
		about = th.Info.Render(shortHash(d.GetCommit().GetHash())) + "  " +
			th.Dim.Render(text.FirstLine(d.GetCommit().GetMessage()))
	}
	name = strings.ToUpper(text.Line(name))
	if apart := spaced(name); width >= bigWide && text.Width(apart) <= width/2 {
		name = apart
	}
	name = text.Cut(name, width*3/5, th.Ellipsis)
	room := min(width-text.Width(name)-3, width*11/20)
	if room < minCause {
		return th.Strong.Render(name)
	}
	about = text.Cut(about, room, th.Ellipsis)
	return th.Strong.Render(name) + strings.Repeat(" ", width-text.Width(name)-text.Width(about)) + about
}

// spaced sets letters apart where each takes one column.
func spaced(word string) string {
	if text.Width(word) != len(word) {
		return word
	}
	return strings.Join(strings.Split(word, ""), " ")
}

// state is the state of the deployment in one word, how far it is and how long it has taken; of a log also where the
// reader is.
func (v Big) state(width int) string {
	th, d := v.Theme, v.Deployment.Deployment
	if d == nil {
		return th.Dim.Render("no deployment yet")
	}
	badge := deploymentBadge(th, d.GetStatus())
	word, tone := badge.word, badge.style
	if waits(d) {
		word, tone = "WAITING", th.Tones.Warn
	}
	done, all := endedStages(d)
	count, gap := fmt.Sprintf("%d of %d stages", done, all), "      "
	if width < bigWide {
		count, gap = fmt.Sprintf("%d/%d", done, all), "  "
	} else {
		word = spaced(word)
	}
	took := lasted(d, v.Deployment.Queue.Time, v.Now)
	left := tone.Render(word) + "   " + th.Text.Render(count) + gap + th.Strong.Render(took)
	room := width - text.Width(left) - 2
	right := []string{""}
	if v.Simulated {
		right = []string{th.Warn.Render("simulated: no container runs"), th.Warn.Render("simulated"), ""}
	}
	if v.Log != nil {
		place, short := v.Log.status(room)
		for i, simulated := range right {
			right[i] = join("  ", simulated, place)
		}
		right = append(right, short)
	}
	for _, words := range right {
		if text.Width(words) <= room {
			return split(th, left, words, width)
		}
	}
	return left
}

// waits reports whether a stage of a deployment waits for a person.
func waits(d *deckv1.Deployment) bool {
	return slices.ContainsFunc(d.GetStages(), func(s *deckv1.Stage) bool {
		return s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && s.GetCanApprove() || state.Paused(s)
	})
}

// about says what matters about the selected stage in at most most lines, with the keys at the right end of the last.
func (v Big) about(width, most int) []string {
	th, words := v.Theme, ""
	if stage := v.stage(v.Stage); stage != nil {
		note := stageNote(stage, v.Keys)
		if note == "" {
			note = stageBadge(th, stage).word
		}
		words = shortName(stage, StageName(v.Deployment.Deployment, stage)) + ": " + note
	}
	hint := v.Hint
	if width < bigWide {
		hint = ""
	}
	lines := text.Wrap(words, max(minCause, width-text.Width(hint)-2))
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = text.Cut(lines[most-1], width-text.Width(hint)-3, "") + th.Ellipsis
	}
	for i, line := range lines {
		lines[i] = th.Text.Render(line)
	}
	last := len(lines) - 1
	lines[last] = split(th, lines[last], th.Dim.Render(hint), width)
	return lines
}
