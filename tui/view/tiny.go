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

// Tab is a pane that can be shown alone.
type Tab struct {
	Name string
	Open bool
}

// Tabs name the panes on a screen that has room for one.
type Tabs struct {
	Theme theme.Theme
	List  []Tab
}

// Draw returns one line of width columns.
func (v Tabs) Draw(width int) string {
	line := ""
	for _, tab := range v.List {
		style := v.Theme.Dim
		if tab.Open {
			style = v.Theme.TitleFocused
		}
		line += " " + style.Render(tab.Name) + "  "
	}
	return text.Pad(line, width, v.Theme.Ellipsis)
}

// Tiny reports a deployment where there is room for a few words only.
type Tiny struct {
	Theme theme.Theme
	// Application is nil when none is selected, Deployment before the first of the application.
	Application *deckv1.Application
	Deployment  *deckv1.Deployment
	// Name is that of the application for users.
	Name string
	// Stage is the id of the selected stage.
	Stage string
	// QueueTime is Time of the Queue of the deployment.
	QueueTime time.Duration
	Now       time.Time
}

// Draw returns width columns and height lines, the state first.
func (v Tiny) Draw(width, height int) string {
	lines := v.lines(width)
	for i, line := range lines {
		lines[i] = text.Pad(line, width, v.Theme.Ellipsis)
	}
	for len(lines) < height {
		lines = append(lines, strings.Repeat(" ", width))
	}
	return strings.Join(lines[:max(0, height)], "\n")
}

func (v Tiny) lines(width int) []string {
	th, app, d := v.Theme, v.Application, v.Deployment
	if app == nil {
		return []string{th.Dim.Render("No application yet")}
	}
	name := th.Strong.Render(v.Name)
	if d == nil {
		return []string{name, syncBadge(th, app).String(), th.Dim.Render("No deployment yet")}
	}
	took := lasted(d, v.QueueTime, v.Now)
	stages := slices.DeleteFunc(StageOrder(d), func(s *deckv1.Stage) bool {
		return s.GetRollback() && s.GetStatus() <= deckv1.StageStatus_STAGE_STATUS_NOT_STARTED
	})
	done, all := endedStages(d)
	first := split(th, name, th.Dim.Render(took), width)
	if len(took)+8 > width {
		first = name
	}
	word := deploymentBadge(th, d.GetStatus()).String()
	if reason := text.Line(d.GetStatusReason()); len(stages) == 0 && worthShowing(d.GetStatus()) && reason != "" {
		return append([]string{first, word}, text.Wrap(reason, width)...)
	}
	return append([]string{first, word + th.Dim.Render(fmt.Sprintf(" %d/%d", done, all)), v.signs(stages, width)},
		v.notable(stages)...)
}

// signs is a sign for each stage; the part around the selected one where not all fit.
func (v Tiny) signs(stages []*deckv1.Stage, width int) string {
	selected := max(0, slices.IndexFunc(stages, func(s *deckv1.Stage) bool { return s.GetId() == v.Stage }))
	from, to := window(len(stages), width, selected, selected)
	line := ""
	for _, stage := range stages[from:to] {
		line += stageBadge(v.Theme, stage).dot()
	}
	return line
}

// notable are the stages that fail, wait or run, each with what matters; the selected one first.
func (v Tiny) notable(stages []*deckv1.Stage) []string {
	type row struct {
		rank int
		line string
	}
	var rows []row
	for _, stage := range stages {
		rank := 0
		switch {
		case stage.GetId() == v.Stage:
			rank = 1
		case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE:
			rank = 2
		case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING && stage.GetCanApprove(),
			state.Paused(stage):
			rank = 3
		case stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING:
			rank = 4
		default:
			continue
		}
		name := v.Theme.Text.Render(" " + StageName(v.Deployment, stage))
		line := stageBadge(v.Theme, stage).dot() + name
		if p := stage.GetProgress(); p.GetTotal() > 0 && stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING {
			line += v.Theme.Dim.Render(fmt.Sprintf(" %d/%d", p.GetDone(), p.GetTotal()))
		}
		rows = append(rows, row{rank, line})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.rank, b.rank) })
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = row.line
	}
	return lines
}

// endedStages counts the stages of the pipeline, without those of a rollback, and those that have ended.
func endedStages(d *deckv1.Deployment) (ended, all int) {
	for _, stage := range d.GetStages() {
		if !stage.GetRollback() {
			all++
			if state.StageEnded(stage.GetStatus()) {
				ended++
			}
		}
	}
	return ended, all
}

// lasted is how long a deployment has taken. While it runs, that changes once a second.
func lasted(d *deckv1.Deployment, queued time.Duration, now time.Time) string {
	elapsed := state.DeploymentTook(d, now)
	if d.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING {
		elapsed = max(0, elapsed-queued)
	}
	if !state.Ended(d.GetStatus()) {
		return Ticking(elapsed)
	}
	return Duration(elapsed)
}
