// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Application is one entry of Applications.
type Application struct {
	*deckv1.Application
	// Name is that of the application for users.
	Name string
	// Newest deployment; nil before the first.
	Newest *deckv1.Deployment
	// Problem is what is wrong with its configuration; nil for nothing.
	Problem *deckv1.Problem
	// Outcome is the newest deployment that has succeeded or failed; nil when none has.
	Outcome *deckv1.Deployment
}

// Applications is the list of applications: two lines each.
type Applications struct {
	Theme theme.Theme
	List  []*deckv1.Application
	// Entry returns an application of the list with its deployments.
	Entry    func(*deckv1.Application) Application
	Selected int
	Focused  bool
	Now      time.Time
	// None is said instead of an empty list; "" says that there is none.
	None string
}

// Words are what a filter looks in: name, labels, states and commit.
func (a Application) Words() []string {
	words := []string{a.Name, syncBadge(theme.Theme{}, a.Application).word,
		healthBadge(theme.Theme{}, a.GetHealth()).word, shortHash(a.GetRunningCommit())}
	if a.Newest != nil {
		words = append(words, deploymentBadge(theme.Theme{}, a.Newest.GetStatus()).word,
			shortHash(a.Newest.GetCommit().GetHash()))
	}
	if badge, weight := applicationBadge(theme.Theme{}, a); weight > 0 {
		words = append(words, badge.word)
	}
	for name, value := range a.GetLabels() {
		words = append(words, name+"="+value)
	}
	return words
}

// Draw returns width columns and height lines.
func (v Applications) Draw(width, height int) string {
	frame := box{theme: v.Theme, title: "1 Applications", focused: v.Focused}
	if len(v.List) == 0 {
		return frame.titled(append([]string{""}, empty(v.Theme, v.None, "none seen yet", width)...), width, height)
	}
	frame.right = v.Theme.Dim.Render(fmt.Sprintf("%d", len(v.List)))
	inner, rows := width, height-1
	fit := max(1, rows/2)
	from, to := window(len(v.List), fit, v.Selected, v.Selected)
	frame.total, frame.top, frame.shown = len(v.List), from, to-from
	var lines []string
	for i := from; i < to; i++ {
		tone, first, second := v.entry(v.Entry(v.List[i]), inner)
		if i == v.Selected {
			first = mark(v.Theme, first, inner, v.Focused, tone)
		}
		lines = append(lines, first, second)
	}
	return frame.titled(lines, width, height)
}

// entry is an application in two lines, and the tone of its state.
func (v Applications) entry(app Application, width int) (tone theme.Tone, first, second string) {
	th := v.Theme
	sync := syncBadge(th, app.Application)
	icon, _ := applicationBadge(th, app)
	commit := shortHash(app.GetRunningCommit())
	if running := app.Newest; running != nil && !state.Ended(running.GetStatus()) {
		commit = shortHash(running.GetCommit().GetHash())
	}
	first = split(th, " "+icon.dot()+" "+th.Strong.Render(app.Name), th.Dim.Render(commit), width)

	switch {
	case app.Newest != nil && !state.Ended(app.Newest.GetStatus()):
		const before = 3 // the blanks under the icon
		word := strings.ToLower(deploymentBadge(th, app.Newest.GetStatus()).word)
		second = th.Running.Render(word) + " " + Strip(th, app.Newest.GetStages(), width-before-text.Width(word)-1)
	case app.GetSyncShortReason() != "" && (app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG ||
		app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_ORPHANED):
		second = sync.style.Render(text.Line(app.GetSyncShortReason()))
	case app.Problem != nil:
		second = signed(th.Tones.Warn, th.Warning, text.Line(app.Problem.GetReason()))
	default:
		health := ""
		if known := healthBadge(th, app.GetHealth()); known.word != "" {
			health = known.style.Render(known.word)
		}
		version := ""
		// PipeCD v1: "unknown" stands for no version.
		if versions := app.GetRunningVersions(); len(versions) > 0 && versions[0] != "unknown" {
			version = th.Dim.Render(text.Line(versions[0]))
		}
		if app.GetLookingSince().IsValid() {
			version = th.Warn.Render("checking " + Ticking(state.Elapsed(app.GetLookingSince(), nil, v.Now)))
		}
		dot := th.Dim.Render(" " + th.Dot + " ")
		second = join(dot, sync.style.Render(sync.word), health)
		if why := v.unhealthy(app.Application, dot, width-3); why != "" {
			second = why
		} else if full := join(dot, second, version); text.Width(full)+3 <= width {
			second = full
		}
	}
	return icon.style, first, "   " + second
}

// leastReason is the room from which on the beginning of a reason says anything, in columns.
const leastReason = 12

// unhealthy says which object keeps an application from being healthy, in place of its version, and also of being
// synced, which is as it should be; empty for a healthy application and where there is no room.
func (v Applications) unhealthy(app *deckv1.Application, dot string, width int) string {
	th, health := v.Theme, healthBadge(v.Theme, app.GetHealth())
	if app.GetHealthReason() == "" || app.GetHealth() != deckv1.HealthStatus_HEALTH_STATUS_OTHER {
		return ""
	}
	head := health.style.Render(health.word)
	if sync := syncBadge(th, app); app.GetSync() != deckv1.SyncStatus_SYNC_STATUS_SYNCED {
		head = join(dot, sync.style.Render(sync.word), head)
	}
	room := width - text.Width(head) - text.Width(dot)
	if room < leastReason {
		return ""
	}
	return head + dot + health.style.Render(text.Cut(text.Line(app.GetHealthReason()), room, th.Ellipsis))
}

// Strip shows the stages of a pipeline as one icon each, and how many are done. Where there is no room for all, the
// icons around the stage that matters most stay, and the count always does.
func Strip(th theme.Theme, stages []*deckv1.Stage, width int) string {
	done, all, at, most := 0, 0, 0, -1
	for _, stage := range stages {
		if stage.GetRollback() {
			continue
		}
		if state.StageEnded(stage.GetStatus()) {
			done++
		}
		if weight := statusOf(stage).Weight(); weight > most {
			at, most = all, weight
		}
		all++
	}
	if all == 0 {
		return ""
	}
	count := fmt.Sprintf(" %d/%d", done, all)
	from, to := around(all, at, width-len(count))
	badges, n := make([]badge, 0, to-from), 0
	for _, stage := range stages {
		if stage.GetRollback() {
			continue
		}
		if n >= from && n < to {
			badges = append(badges, stageBadge(th, stage))
		}
		n++
	}
	icons := dots(badges)
	if from > 0 {
		icons = th.Ellipsis + icons
	}
	if to < all {
		icons += th.Ellipsis
	}
	return icons + th.Dim.Render(count)
}

// around returns the part [from, to) of all next to the one at a position that fits with a mark on each side.
func around(all, at, room int) (from, to int) {
	if all <= room {
		return 0, all
	}
	room = max(1, room-2) // the marks
	from = max(0, min(at-room/2, all-room))
	return from, min(all, from+room)
}

// dots draws the icons of badges; the same in a row are drawn as one.
func dots(badges []badge) string {
	var icons strings.Builder
	for from := 0; from < len(badges); {
		to := from + 1
		for to < len(badges) && badges[to].icon == badges[from].icon && badges[to].word == badges[from].word {
			to++
		}
		icons.WriteString(badges[from].style.Render(strings.Repeat(badges[from].icon, to-from)))
		from = to
	}
	return icons.String()
}
