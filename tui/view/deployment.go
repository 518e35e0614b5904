// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Deployment shows one deployment: what it is, and its stages.
type Deployment struct {
	Theme theme.Theme
	// Application is nil when none is selected.
	Application *deckv1.Application
	// Deployment is nil before the first of the application.
	Deployment *deckv1.Deployment
	// Earlier is set when it is not the newest one of its application.
	Earlier bool
	// Stage is the id of the selected stage.
	Stage   string
	Focused bool
	Now     time.Time
}

// maxReason is how many lines the reason of a failure may take; the log has the rest.
const maxReason = 4

// Draw returns width columns and height lines.
func (v Deployment) Draw(width, height int) string {
	frame := box{theme: v.Theme, title: v.title(), right: v.age(), focused: v.Focused}
	inner, rows := width-2, height-2
	if v.Deployment == nil {
		return frame.draw(v.nothing(inner), width, height)
	}
	head := v.head(inner)
	list := stageList{theme: v.Theme, deployment: v.Deployment, selected: v.Stage, focused: v.Focused, now: v.Now}
	room := max(0, rows-len(head))
	lines, at := list.lines(inner, room-1)
	if len(lines) < room {
		head, room = append(head, ""), room-1
	}
	from, to := window(len(lines), room, at, at)
	frame.total, frame.top, frame.shown = len(lines), from, to-from
	return frame.draw(append(head, lines[from:to]...), width, height)
}

// Height is how many lines Draw would like to have, roomy or dense.
func (v Deployment) Height(width int, roomy bool) int {
	if v.Deployment == nil {
		return len(v.nothing(width-2)) + 2
	}
	list := stageList{theme: v.Theme, deployment: v.Deployment, now: v.Now}
	room := 0
	if roomy {
		room = 1 << 10
	}
	lines, _ := list.lines(width-2, room)
	height := len(v.head(width-2)) + len(lines) + 2
	if roomy {
		height++ // a blank line between head and stages
	}
	return height
}

func (v Deployment) title() string {
	if v.Application == nil {
		return "2 Deployment"
	}
	return "2 Deployment " + v.Theme.Dot + " " + v.Application.GetName()
}

func (v Deployment) age() string {
	if v.Deployment == nil {
		return ""
	}
	if v.Earlier {
		return v.Theme.Warn.Render("earlier one, esc: newest")
	}
	return v.Theme.Dim.Render(Age(state.Elapsed(v.Deployment.GetCreatedAt(), nil, v.Now)))
}

// head reports what is deployed, how and why, and what went wrong.
func (v Deployment) head(width int) []string {
	th, d := v.Theme, v.Deployment
	status := deploymentBadge(th, d.GetStatus())
	elapsed := state.Elapsed(d.GetCreatedAt(), d.GetCompletedAt(), v.Now)
	took := Duration(elapsed)
	if !state.Ended(d.GetStatus()) {
		took = Ticking(elapsed)
	}
	first := " " + status.String() + "  " + th.Info.Render(shortHash(d.GetCommit().GetHash())) + " " +
		th.Strong.Render(text.FirstLine(d.GetCommit().GetMessage()))
	lines := []string{split(th, first, th.Dim.Render(took)+" ", width)}

	who := ""
	switch chain := text.Line(d.GetChainId()); {
	case chain != "": // which asks for those after the first
		who = fmt.Sprintf("block %d of chain %s", d.GetChainBlock(), text.Cut(chain, 8, ""))
	case d.GetCommander() != "":
		who = "asked for by " + text.Line(d.GetCommander())
	}
	strategy := d.GetStrategy()
	if strategy == "AUTO" || strategy == "" {
		strategy = "planning"
	}
	about := join(" "+th.Dot+" ", strategy, text.Line(d.GetSummary()), who)
	lines = append(lines, " "+th.Dim.Render(text.Cut(about, width-2, th.Ellipsis)))

	if reason := text.Line(d.GetStatusReason()); reason != "" && worthShowing(d.GetStatus()) {
		wrapped := text.Wrap(reason, width-4)
		for i, line := range wrapped[:min(len(wrapped), maxReason)] {
			lead := "   "
			if i == 0 {
				lead = " " + th.Arrow + " "
				if text.Width(lead) > 3 {
					lead = th.Arrow + " "
				}
			}
			if i == maxReason-1 && len(wrapped) > maxReason {
				line = text.Cut(line, width-6, "") + th.Ellipsis
			}
			lines = append(lines, status.style.Render(lead+line))
		}
	}
	return lines
}

// worthShowing: the reason of a success only repeats the status.
func worthShowing(status deckv1.DeploymentStatus) bool {
	switch status {
	case deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED,
		deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK:
		return true
	}
	return false
}

// nothing reports why there is no deployment and what would make one.
func (v Deployment) nothing(width int) []string {
	th, app := v.Theme, v.Application
	if app == nil {
		return []string{"", th.Dim.Render(" No application has been seen in the repository yet.")}
	}
	if app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG {
		lines := []string{"", " " + th.Bad.Render(th.Failed+" The configuration is not valid:"), ""}
		reason := app.GetSyncReason()
		if reason == "" {
			reason = app.GetSyncShortReason()
		}
		for _, line := range text.Wrap(reason, width-3) {
			lines = append(lines, "   "+line)
		}
		return append(lines, "", th.Dim.Render(" Fix "+join("/", app.GetPath(),
			app.GetConfigFilename())+" and commit."))
	}
	return []string{
		"", th.Dim.Render(" No deployment yet."),
		th.Dim.Render(fmt.Sprintf(" Commit a change below %s, or press ", app.GetPath())) + th.Key.Render("s") +
			th.Dim.Render(" to deploy what is there."),
	}
}
