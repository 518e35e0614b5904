// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/dag"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// stageList draws the stages of a deployment as a graph, from the top down.
type stageList struct {
	theme      theme.Theme
	deployment *deckv1.Deployment
	selected   string
	focused    bool
	now        time.Time
}

// StageOrder returns the stages as they stand on the screen: the pipeline, then what runs on rollback.
func StageOrder(deployment *deckv1.Deployment) []*deckv1.Stage {
	forward, rollback := graphs(deployment)
	var ordered []*deckv1.Stage
	for _, g := range []graph{forward, rollback} {
		for _, row := range g.rows {
			ordered = append(ordered, g.stages[row.Node])
		}
	}
	return ordered
}

type graph struct {
	stages []*deckv1.Stage
	rows   []dag.Row
}

func graphs(deployment *deckv1.Deployment) (forward, rollback graph) {
	for _, stage := range deployment.GetStages() {
		if stage.GetRollback() {
			rollback.stages = append(rollback.stages, stage)
		} else {
			forward.stages = append(forward.stages, stage)
		}
	}
	for _, g := range []*graph{&forward, &rollback} {
		nodes := make([]dag.Node, len(g.stages))
		for i, stage := range g.stages {
			nodes[i] = dag.Node{ID: stage.GetId(), Requires: stage.GetRequires(), Index: int(stage.GetIndex())}
		}
		g.rows = dag.Rows(nodes)
	}
	return forward, rollback
}

// lines draws all stages; at is the line of the selected one. With room to spare, layers are connected.
func (l stageList) lines(width, room int) (lines []string, at int) {
	forward, rollback := graphs(l.deployment)
	if len(forward.rows) == 0 && len(rollback.rows) == 0 {
		return []string{l.theme.Dim.Render(" Planning: the stages are not known yet.")}, 0
	}
	dense := len(forward.rows) + len(rollback.rows)
	if len(rollback.rows) > 0 {
		dense++
	}
	connect := room >= dense+connectors(forward)+connectors(rollback)
	name := l.nameWidth(forward, width)

	draw := func(g graph) {
		for i, row := range g.rows {
			stage := g.stages[row.Node]
			if connect && i > 0 && row.Layer != g.rows[i-1].Layer {
				lines = append(lines, " "+l.theme.Border.Render(l.theme.Rail))
			}
			line := l.row(g, row, name, width)
			if stage.GetId() == l.selected {
				at = len(lines)
				line = mark(l.theme, line, width, l.focused)
			}
			lines = append(lines, line)
		}
	}
	draw(forward)
	if len(rollback.rows) > 0 {
		lines = append(lines, l.rollbackRule(rollback, width))
		draw(rollback)
	}
	return lines, at
}

func forks(g graph) bool {
	for _, row := range g.rows {
		if row.Place != dag.Alone {
			return true
		}
	}
	return false
}

func connectors(g graph) int {
	n := 0
	for i := 1; i < len(g.rows); i++ {
		if g.rows[i].Layer != g.rows[i-1].Layer {
			n++
		}
	}
	return n
}

func (l stageList) rollbackRule(rollback graph, width int) string {
	word, style := " on failure ", l.theme.Idle
	for _, stage := range rollback.stages {
		if stage.GetStatus() > deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			word, style = " rollback ", l.theme.Rollback
		}
	}
	rule := l.theme.Horizontal + l.theme.Horizontal + word
	return " " + style.Render(rule+strings.Repeat(l.theme.Horizontal, max(0, width-2-text.Width(rule))))
}

const (
	// durationWidth fits the longest that Duration returns.
	durationWidth = 6
	// minNote is the least room in which a note still says something.
	minNote = 8
)

func (l stageList) nameWidth(forward graph, width int) int {
	longest := 8
	for _, stage := range l.deployment.GetStages() {
		longest = max(longest, text.Width(stage.GetName()))
	}
	if forks(forward) {
		longest += 2 // the fork before the name
	}
	return min(longest, max(10, width-durationWidth-minNote-8))
}

// row is: graph, icon, name, duration, note.
func (l stageList) row(g graph, row dag.Row, nameWidth, width int) string {
	th := l.theme
	stage := g.stages[row.Node]
	badge := stageBadge(th, stage)
	lead, used := " ", 0
	switch row.Place {
	case dag.Fork:
		lead, used = " "+th.Border.Render(th.Fork), 2
	case dag.Last:
		lead, used = " "+th.Border.Render(th.Last), 2
	}
	nameStyle := th.Text
	if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING {
		nameStyle = th.Strong
	} else if !state.StageEnded(stage.GetStatus()) {
		nameStyle = th.Idle
	}
	line := lead + badge.dot() + " " + nameStyle.Render(text.Pad(stage.GetName(), nameWidth-used, th.Ellipsis)) +
		" " + th.Dim.Render(text.PadLeft(l.took(stage), durationWidth, ""))
	if note := l.note(g, row, stage); note != "" {
		line += "  " + note
	}
	return text.Cut(line, width, th.Ellipsis)
}

func (l stageList) took(stage *deckv1.Stage) string {
	elapsed := state.Elapsed(stage.GetStartedAt(), stage.GetCompletedAt(), l.now)
	switch {
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING:
		return Ticking(elapsed)
	case state.StageEnded(stage.GetStatus()) && stage.GetStartedAt().IsValid():
		return Duration(elapsed)
	}
	return ""
}

// note is what matters most about a stage next to its state.
func (l stageList) note(g graph, row dag.Row, stage *deckv1.Stage) string {
	th := l.theme
	attempt := ""
	if stage.GetRetries() > 0 {
		attempt = th.Warn.Render(fmt.Sprintf("attempt %d", stage.GetRetries()+1))
	}
	about := ""
	switch {
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE:
		about = th.Bad.Render(text.Line(stage.GetStatusReason()))
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && stage.GetCanApprove():
		about = th.Warn.Render("press ") + th.Key.Render("a") + th.Warn.Render(" "+approval(stage))
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && stage.GetProgress() != nil:
		about = stageProgress(th, stage.GetProgress())
	case stage.GetDisplay() != "":
		about = th.Info.Render(text.Line(stage.GetDisplay()))
	case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_CANCELLED,
		stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SKIPPED:
		about = th.Dim.Render(join(": ", stageBadge(th, stage).word, text.Line(stage.GetStatusReason())))
	case stage.GetDesc() != "":
		about = th.Dim.Render(text.Line(stage.GetDesc()))
	}
	after := ""
	if names := namesOf(g, row.After); len(names) > 0 {
		after = th.Dim.Render("after " + strings.Join(names, ", "))
	}
	targets := targetSummary(th, stage)
	if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE { // the reason is long and would leave them no room
		about, targets = targets, about
	}
	return join(th.Dim.Render(" "+th.Dot+" "), attempt, about, targets, after)
}

// approval says what the key does, and whose approval the stage needs where it needs that of named users.
func approval(stage *deckv1.Stage) string {
	if len(stage.GetApprovers()) == 0 {
		return "to approve"
	}
	// short, because 80 columns have room for little more
	return "as " + text.Line(strings.Join(stage.GetApprovers(), " or "))
}

// namesOf returns the names of the stages in the picture: a rollback also requires stages of the
// pipeline, whose ids would say nothing to anybody.
func namesOf(g graph, ids []string) []string {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		for _, stage := range g.stages {
			if stage.GetId() == id {
				names = append(names, stage.GetName())
			}
		}
	}
	return names
}
