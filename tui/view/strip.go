// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// ApplicationStrip names the applications in one line: the selected one, then those in the worst state.
type ApplicationStrip struct {
	Theme theme.Theme
	List  []Application
	// Selected is the index of the application on the screen.
	Selected int
	// Key lists all of them.
	Key string
}

// Draw returns one line of width columns. Where not all applications fit, it counts the others.
func (v ApplicationStrip) Draw(width int) string {
	th := v.Theme
	if len(v.List) == 0 {
		return text.Pad(" "+th.Dim.Render("no application yet"), width, th.Ellipsis)
	}
	line, fitting := "", ""
	list := v.worstFirst()
	for i, app := range list {
		badge, _ := applicationBadge(th, app)
		rest := v.rest(len(list) - i - 1)
		if i == 0 {
			line = text.Cut(" "+badge.dot()+" "+th.Strong.Render(app.Name), width-text.Width(rest), th.Ellipsis)
		} else {
			line += "   " + badge.dot() + " " + th.Text.Render(app.Name)
		}
		if i > 0 && text.Width(line) > width {
			break
		}
		if i == 0 || text.Width(line+rest) <= width {
			fitting = line + rest
		}
	}
	return text.Pad(fitting, width, th.Ellipsis)
}

// rest counts the applications that are not shown; "" for none.
func (v ApplicationStrip) rest(n int) string {
	if n == 0 {
		return ""
	}
	th := v.Theme
	return "   " + th.Strong.Render(fmt.Sprintf("+%d", n)) + th.Dim.Render(" "+th.Dot+" ") + th.Key.Render(v.Key) +
		th.Dim.Render(" lists all")
}

// worstFirst is the selected application and then the others, the worst first.
func (v ApplicationStrip) worstFirst() []Application {
	at := max(0, min(v.Selected, len(v.List)-1))
	list := slices.Concat(v.List[at:at+1], v.List[:at], v.List[at+1:])
	weights := make(map[string]int, len(list))
	for _, app := range list {
		_, weights[app.GetId()] = applicationBadge(v.Theme, app)
	}
	slices.SortStableFunc(list[1:], func(a, b Application) int { return weights[b.GetId()] - weights[a.GetId()] })
	return list
}

// applicationBadge is the state of an application with its newest deployment, and how much it matters to a reader.
func applicationBadge(th theme.Theme, app Application) (b badge, weight int) {
	sync, newest := syncBadge(th, app.Application), app.Newest
	switch {
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
		return sync, 5
	case state.ApplicationFailed(app.Application, app.Outcome):
		return deploymentBadge(th, app.Outcome.GetStatus()), 5
	case newest != nil && !state.Ended(newest.GetStatus()) && waits(newest):
		return badge{th.Wait, "waiting", th.Tones.Warn}, 4
	case newest != nil && !state.Ended(newest.GetStatus()), app.GetDeploying():
		return sync, 3
	case app.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER:
		return healthBadge(th, app.GetHealth()), 2
	case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC,
		app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED:
		return sync, 1
	}
	return sync, 0
}
