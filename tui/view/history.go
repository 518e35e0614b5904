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

// History lists the deployments of one application, the newest first.
type History struct {
	Theme       theme.Theme
	Application string
	List        []*deckv1.Deployment
	Selected    int
	Now         time.Time
	// None is said instead of an empty list; "" says that there is none.
	None string
}

// DeploymentWords are what a filter looks in: state, commit, its message and author, and who asked for it.
func DeploymentWords(d *deckv1.Deployment) []string {
	return []string{deploymentBadge(theme.Theme{}, d.GetStatus()).word, shortHash(d.GetCommit().GetHash()),
		text.FirstLine(d.GetCommit().GetMessage()), d.GetCommit().GetAuthor(), d.GetCommander()}
}

// Draw returns width columns and height lines.
func (v History) Draw(width, height int) string {
	th, inner := v.Theme, width
	frame := box{theme: th, title: v.title(), focused: true, right: th.Dim.Render("enter: show")}
	if len(v.List) == 0 {
		return frame.titled(append([]string{""}, empty(th, v.None, "none yet", width)...), width, height)
	}
	from, to := window(len(v.List), height-1, v.Selected, v.Selected)
	frame.total, frame.top, frame.shown = len(v.List), from, to-from
	var lines []string
	for i := from; i < to; i++ {
		d := v.List[i]
		badge := deploymentBadge(th, d.GetStatus())
		took := state.DeploymentTook(d, v.Now)
		line := split(th,
			fmt.Sprintf(" %s %s %s", badge.style.Render(text.Pad(badge.icon+" "+badge.word, 14, "")),
				th.Info.Render(shortHash(d.GetCommit().GetHash())), text.FirstLine(d.GetCommit().GetMessage()))+
				th.Dim.Render(v.relation(d)),
			th.Dim.Render(text.PadLeft(Duration(took), durationWidth, "")+" "+
				text.PadLeft(Age(state.Elapsed(d.GetCreatedAt(), nil, v.Now)), 8, "")+" "), inner)
		if i == v.Selected {
			line = mark(th, line, inner, true, badge.style)
		}
		lines = append(lines, line)
	}
	return frame.titled(lines, width, height)
}

// relation is what a deployment has to do with another one, for the end of its line; empty for nothing.
func (v History) relation(d *deckv1.Deployment) string {
	switch {
	case d.GetSupersededBy() != "":
		by := text.Cut(text.Line(d.GetSupersededBy()), 8, "")
		for _, one := range v.List {
			if one.GetId() == d.GetSupersededBy() {
				by = shortHash(one.GetCommit().GetHash())
			}
		}
		return " " + v.Theme.Dot + " superseded by " + by
	case d.GetRetry() > 0:
		return fmt.Sprintf(" %s retry %d of %d", v.Theme.Dot, d.GetRetry(), d.GetRetryLimit())
	case madeFor[d.GetTrigger()] != "":
		return " " + v.Theme.Dot + " " + madeFor[d.GetTrigger()]
	default:
		return ""
	}
}

// madeFor is what a deployment was made for, where that is no commit.
var madeFor = map[deckv1.DeploymentTrigger]string{
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_EVENT:    "event",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_DRIFT:    "drift",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_SYNC:     "sync",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_CHAIN:    "chain",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_RETRY:    "retry",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_ROLLBACK: "rollback",
	deckv1.DeploymentTrigger_DEPLOYMENT_TRIGGER_REMOVAL:  "removal",
}

// title says when there may be older deployments than those of the list.
func (v History) title() string {
	title := "Deployments"
	if len(v.List) >= state.MaxDeployments {
		title = fmt.Sprintf("Newest %d deployments", len(v.List))
	}
	if v.Application != "" {
		title += " of " + v.Application
	}
	return title
}
