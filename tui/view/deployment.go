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

// Deployment shows one deployment: what it is, and its stages.
type Deployment struct {
	Theme theme.Theme
	// Application is nil when none is selected.
	Application *deckv1.Application
	// Name is that of the application for users.
	Name string
	// Deployment is nil before the first of the application.
	Deployment *deckv1.Deployment
	// Problem is what is wrong with the configuration of the application; nil for nothing.
	Problem *deckv1.Problem
	// Environment is where the application was found; nil while that is not known.
	Environment *deckv1.Environment
	// Queue is what waits with it.
	Queue Queue
	// Earlier is set when it is not the newest one of its application.
	Earlier bool
	// Stage is the id of the selected stage, Fold the fold on which the cursor is, or empty.
	Stage, Fold string
	// Form is how the stages are drawn.
	Form Form
	Folds
	// Usual is how long the selected stage took when it last succeeded; 0 when that is not known.
	Usual time.Duration
	// Memo saves work between the calls of one frame; it may be nil.
	Memo *GraphMemo
	// Held says of stages, by id, where a debugger holds their plugin.
	Held map[string]string
	// Keys are those that the texts name.
	Keys    Keys
	Focused bool
	Now     time.Time
}

// Folds are how the stages that a reader can do without are drawn: Unfolded draws every stage, Open the folds that it
// names, by id.
type Folds struct {
	Unfolded bool
	Open     []string
}

// Queue is what is known of the queue of an application, seen from one of its deployments.
type Queue struct {
	// Others are the further deployments that wait to begin, the next one first.
	Others []*deckv1.Deployment
	// Ahead is the deployment under way that this one waits for; nil for none.
	Ahead *deckv1.Deployment
	// Time is how long this one waited for others to end before it began.
	Time time.Duration
}

// maxReason is how many lines the reason of a failure may take; the log has the rest.
const maxReason = 4

// maxQueued is how many commits of queued deployments the title names.
const maxQueued = 3

// Draw returns width columns and height lines.
func (v Deployment) Draw(width, height int) string {
	frame := box{theme: v.Theme, title: v.title(), right: v.age(), focused: v.Focused}
	inner, rows := width, height-1
	if v.Deployment == nil {
		return frame.titled(v.nothing(inner), width, height)
	}
	head := v.head(inner)
	if len(v.Deployment.GetStages()) == 0 {
		if !v.Earlier {
			frame.right, frame.short = v.queue(Age(state.Elapsed(v.Deployment.GetCreatedAt(), nil, v.Now)))
		}
		return frame.titled(slices.Concat(head, []string{""}, v.withoutStages(inner)), width, height)
	}
	room := v.room(len(head), inner, rows)
	lines, form := v.graphLines(inner, room)
	if !v.Earlier {
		frame.right, frame.short = v.queue(fmt.Sprintf("%s %s %s", stageCount(v.Deployment), v.Theme.Dot, form))
	}
	detail := v.detail(inner)[:rows-len(head)-room]
	spare := room - len(lines)
	if spare > 0 {
		head = append(head, "")
	}
	if spare > 1 {
		lines = append(lines, "")
	}
	return frame.titled(slices.Concat(head, lines, detail), width, height)
}

// GraphSize returns the columns and rows that Draw has for the graph.
func (v Deployment) GraphSize(width, height int) (columns, rows int) {
	return width, v.room(len(v.head(width)), width, height-1)
}

// room is the height of the graph. What is said about the selected stage yields where not all stages have room.
func (v Deployment) room(head, width, rows int) int {
	const roomy = 12
	rows = max(0, rows-head)
	less := max(0, rows-len(v.detail(width)))
	if less >= roomy || less >= v.rows(width, less) {
		return less
	}
	return rows
}

// rows is the height of the graph in a pane of that size, of which it may be more.
func (v Deployment) rows(width, height int) int {
	return max(1, v.Graph(width, height).Picture.Height)
}

// Height is how many lines Draw would like to have, at most most if it can do with those.
func (v Deployment) Height(width, most int) int {
	if v.Deployment == nil {
		return len(v.nothing(width)) + 1
	}
	const title, blanks = 1, 2
	if len(v.Deployment.GetStages()) == 0 {
		return len(v.head(width)) + 1 + len(v.withoutStages(width)) + title
	}
	around := len(v.head(width)) + len(v.detail(width)) + title
	height := v.rows(width, most-around)
	return max(height+around, min(height+around+blanks, most))
}

// detail is about the selected stage.
func (v Deployment) detail(width int) []string {
	for _, stage := range v.Deployment.GetStages() {
		if stage.GetId() == v.Stage {
			return v.stageLines(stage, width)
		}
	}
	return nil
}

// stageLines say what there is no room for in the graph: the whole name, all that is worth a note, how long it takes,
// and how it goes at each of several deploy targets.
func (v Deployment) stageLines(stage *deckv1.Stage, width int) []string {
	th := v.Theme
	badge := stageBadge(th, stage)
	line := " " + badge.dot() + " " + th.Strong.Render(v.name(stage))
	note := badge.word
	if words := join(", ", v.Held[stage.GetId()], silence(stage, v.Now), stageNote(stage, v.Keys)); words != "" {
		note = words
	}
	var reason []string
	if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE {
		note, reason = badge.word, v.stageReason(stage, width)
	}
	lines := append([]string{split(th, line+"  "+badge.style.Render(note), v.stageTook(stage), width)}, reason...)
	if targets := targetLine(th, stage); targets != "" {
		lines = append(lines, text.Cut("   "+targets, width, th.Ellipsis))
	}
	return lines
}

// name is that of a stage in the graph.
func (v Deployment) name(stage *deckv1.Stage) string {
	for _, s := range v.stages() {
		if s.ID == stage.GetId() {
			return s.Name
		}
	}
	return ""
}

// stageReason says why a stage failed, unless the head does.
func (v Deployment) stageReason(stage *deckv1.Stage, width int) []string {
	reason := text.Line(stage.GetStatusReason())
	if reason == "" || strings.Contains(text.Line(v.Deployment.GetStatusReason()), reason) {
		return nil
	}
	lines := text.Wrap(reason, width-4)
	for i, line := range lines[:min(len(lines), maxReason)] {
		lines[i] = "   " + v.Theme.Bad.Render(line)
	}
	return lines[:min(len(lines), maxReason)]
}

// stageTook says how long a stage took, or that it runs longer or shorter than usual.
func (v Deployment) stageTook(stage *deckv1.Stage) string {
	if !stage.GetStartedAt().IsValid() {
		return ""
	}
	words := Duration(took(stage, v.Now))
	if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_RUNNING {
		words = Ticking(took(stage, v.Now))
		if usual := v.Usual.Round(time.Second); usual > 0 && !stage.GetCanApprove() {
			words += " of about " + Duration(usual)
		}
	}
	if paused := stage.GetPaused().AsDuration(); paused > 0 {
		words += ", paused " + Duration(paused)
	}
	return v.Theme.Dim.Render(words) + " "
}

func (v Deployment) title() string {
	if v.Application == nil {
		return "2 Deployment"
	}
	return "2 Deployment " + v.Theme.Dot + " " + v.Name
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

// queue puts the number of queued deployments before words for the title, with their commits; short is the number
// alone. Without a queue, the words stand alone.
func (v Deployment) queue(words string) (long, short string) {
	if len(v.Queue.Others) == 0 {
		return v.Theme.Dim.Render(words), ""
	}
	short = fmt.Sprintf("%d queued", len(v.Queue.Others))
	commits := ":"
	for i, one := range v.Queue.Others {
		if i == maxQueued {
			commits += " " + v.Theme.Ellipsis
			break
		}
		commits += " " + shortHash(one.GetCommit().GetHash())
	}
	warn := v.Theme.Warn
	return warn.Render(short+commits) + v.Theme.Dim.Render(" "+v.Theme.Dot+" "+words), warn.Render(short)
}

// lasted is how long the deployment has taken, and how long it was queued before that.
func (v Deployment) lasted() string {
	took := lasted(v.Deployment, v.Queue.Time, v.Now)
	if v.Queue.Time < time.Second || v.Deployment.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING {
		return took
	}
	return took + " after " + Duration(v.Queue.Time) + " queued"
}

// stageCount counts the stages of the pipeline, without those of a rollback.
func stageCount(d *deckv1.Deployment) string {
	n := 0
	for _, stage := range d.GetStages() {
		if !stage.GetRollback() {
			n++
		}
	}
	if n == 1 {
		return "1 stage"
	}
	return fmt.Sprintf("%d stages", n)
}

// askedBy returns the summary of a deployment between who deployed its commit again and who else asked for it; either
// is empty for none. The summary comes last to be cut where the commit is not the newest, and is not repeated.
func askedBy(d *deckv1.Deployment) (again, summary, who string) {
	summary = text.Line(d.GetSummary())
	switch chain, commander := text.Line(d.GetChainId()), text.Line(d.GetCommander()); {
	case chain != "": // which asks for those after the first
		who = fmt.Sprintf("block %d of chain %s", d.GetChainBlock(), text.Cut(chain, 8, ""))
	case d.GetRetry() > 0:
		again = fmt.Sprintf("retry %d of %d of deployment %s", d.GetRetry(), d.GetRetryLimit(),
			text.Cut(text.Line(d.GetRetryOf()), 8, ""))
	case d.GetRetryOf() != "":
		again = "retried by " + commander
	case d.GetRollbackTo() != "":
		again = "rolled back by " + commander
	case commander != "":
		who = "asked for by " + commander
	}
	if again != "" && strings.HasPrefix(strings.ToLower(summary), strings.ToLower(again)) {
		again = ""
	}
	return again, summary, who
}

// head reports what is deployed, how and why, and what went wrong.
func (v Deployment) head(width int) []string {
	th, d := v.Theme, v.Deployment
	status := deploymentBadge(th, d.GetStatus())
	first := " " + status.String() + "  " + th.Info.Render(shortHash(d.GetCommit().GetHash())) + " " +
		th.Strong.Render(text.FirstLine(d.GetCommit().GetMessage()))
	lines := []string{split(th, first, th.Dim.Render(v.lasted())+" ", width)}

	strategy := d.GetStrategy()
	switch {
	case strategy != "AUTO" && strategy != "":
	case state.Ended(d.GetStatus()):
		strategy = "no plan"
	case v.Queue.Ahead != nil:
		strategy = "queued"
	default:
		strategy = "planning"
	}
	again, summary, who := askedBy(d)
	about := join(" "+th.Dot+" ", strategy, again, summary, who)
	lines = append(lines, v.withAddress(about, width))

	if v.Queue.Ahead != nil {
		lines = append(lines, v.reasonLines(th.Tones.Warn, behind(v.Queue.Ahead), width)...)
	}
	if worthShowing(d.GetStatus()) {
		lines = append(lines, v.reasonLines(status.style, d.GetStatusReason(), width)...)
	}
	if why := v.unhealthySince(); why != "" {
		lines = append(lines, v.reasonLines(th.Tones.Warn, why, width)...)
	}
	if invalid := v.invalidSince(width); invalid != nil {
		return append(lines, invalid...)
	}
	return append(lines, v.mistaken(width)...)
}

// unhealthySince says which object keeps the application from being healthy although its newest deployment has
// succeeded; empty otherwise.
func (v Deployment) unhealthySince() string {
	app := v.Application
	if v.Earlier || v.Deployment.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS ||
		app.GetHealth() != deckv1.HealthStatus_HEALTH_STATUS_OTHER || app.GetHealthReason() == "" {
		return ""
	}
	return "unhealthy: " + app.GetHealthReason()
}

// leastAddress is the width from which a line has room for the address of the application.
const leastAddress = 60

// withAddress is the second line of the head: with the address at which the application answers, where there is one.
func (v Deployment) withAddress(about string, width int) string {
	th, url := v.Theme, text.Line(v.Application.GetUrl())
	if url == "" || width < leastAddress {
		return " " + th.Dim.Render(text.Cut(about, width-2, th.Ellipsis))
	}
	about = text.Cut(about, width-text.Width(url)-4, th.Ellipsis)
	return split(th, " "+th.Dim.Render(about), th.Info.Render(url)+" ", width)
}

// behind says what a pending deployment waits for.
func behind(ahead *deckv1.Deployment) string {
	commit := shortHash(text.Line(ahead.GetCommit().GetHash()))
	return "It begins when the deployment of commit " + commit + " has ended."
}
