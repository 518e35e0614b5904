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
	"github.com/pipedeck/pipedeck/tui/graph"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// StageOrder returns the stages as they stand in lanes from the top down: the pipeline, then what runs on rollback.
func StageOrder(d *deckv1.Deployment) []*deckv1.Stage {
	byID := make(map[string]*deckv1.Stage, len(d.GetStages()))
	for _, stage := range d.GetStages() {
		byID[stage.GetId()] = stage
	}
	ordered := make([]*deckv1.Stage, 0, len(byID))
	for _, id := range graph.Order(stagesOf(d, Keys{}, time.Time{})) {
		ordered = append(ordered, byID[id])
	}
	return ordered
}

// StageName is what a stage is called on the screen: see graph.Name. Stages that would share a name get numbers.
func StageName(d *deckv1.Deployment, stage *deckv1.Stage) string {
	all := byIndex(d)
	for i, name := range stageNames(all) {
		if all[i].GetId() == stage.GetId() {
			return name
		}
	}
	return ""
}

// stageNames returns the name of each stage.
func stageNames(stages []*deckv1.Stage) []string {
	names := make([]string, len(stages))
	count := make(map[string]int, len(stages))
	for i, stage := range stages {
		names[i] = graph.Name(stage.GetConfigId(), stage.GetName(), stage.GetDesc())
		count[names[i]]++
	}
	number := make(map[string]int)
	for i, name := range names {
		if count[name] > 1 {
			number[name]++
			names[i] = fmt.Sprintf("%s #%d", name, number[name])
		}
	}
	return names
}

// byIndex returns the stages in the order in which the author wrote them.
func byIndex(d *deckv1.Deployment) []*deckv1.Stage {
	return slices.SortedStableFunc(slices.Values(d.GetStages()), func(a, b *deckv1.Stage) int {
		return cmp.Or(cmp.Compare(a.GetIndex(), b.GetIndex()), cmp.Compare(a.GetId(), b.GetId()))
	})
}

// stagesOf makes the stages of a deployment ready to be drawn, in the order in which the author wrote them.
func stagesOf(d *deckv1.Deployment, keys Keys, now time.Time) []graph.Stage {
	all := byIndex(d)
	names := stageNames(all)
	stages := make([]graph.Stage, len(all))
	for i, s := range all {
		stages[i] = graph.Stage{
			ID: s.GetId(), Name: names[i], Needs: s.GetRequires(), Rollback: s.GetRollback(), Status: statusOf(s),
			Note: join(", ", silence(s, now), stageNote(s, keys)),
		}
		if s.GetCanApprove() && s.GetApprovalsNeeded() > 1 {
			stages[i].Short = approvalCount(s)
		}
		stages[i].Start, stages[i].Duration = timesOf(d, s, now)
	}
	return stages
}

// timesOf returns how long after the deployment a stage started, and how long it has run.
func timesOf(d *deckv1.Deployment, s *deckv1.Stage, now time.Time) (start, duration time.Duration) {
	if !s.GetStartedAt().IsValid() {
		return 0, 0
	}
	return state.Elapsed(d.GetCreatedAt(), s.GetStartedAt(), now), took(s, now)
}

// took is how long a stage has run. While it runs, the seconds are whole, so that the screen changes once a second.
func took(s *deckv1.Stage, now time.Time) time.Duration {
	elapsed := state.StageTook(s, now)
	if !state.StageEnded(s.GetStatus()) {
		return elapsed.Truncate(time.Second)
	}
	return elapsed
}

func statusOf(s *deckv1.Stage) graph.Status {
	if state.Paused(s) {
		return graph.Waiting
	}
	switch s.GetStatus() {
	case deckv1.StageStatus_STAGE_STATUS_RUNNING:
		if s.GetCanApprove() {
			return graph.Waiting
		}
		return graph.Running
	case deckv1.StageStatus_STAGE_STATUS_SUCCESS, deckv1.StageStatus_STAGE_STATUS_EXITED:
		return graph.Done
	case deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return graph.Failed
	case deckv1.StageStatus_STAGE_STATUS_SKIPPED:
		return graph.Skipped
	case deckv1.StageStatus_STAGE_STATUS_CANCELLED:
		return graph.Cancelled
	}
	return graph.NotStarted
}

// stageNote is what matters most about a stage besides its state.
func stageNote(s *deckv1.Stage, keys Keys) string {
	attempt := ""
	if s.GetRetries() > 0 {
		attempt = fmt.Sprintf("attempt %d", s.GetRetries()+1)
	}
	about, targets := stageWords(s, keys), targetSummary(s)
	if s.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE { // the reason is long and would leave them no room
		about, targets = targets, about
	}
	return join(", ", attempt, about, targets)
}

// stageWords say how far a stage is, or how it ended.
func stageWords(s *deckv1.Stage, keys Keys) string {
	switch status := s.GetStatus(); {
	case state.Paused(s):
		if keys.Break == "" {
			return text.Line(state.PauseText(s))
		}
		return text.Line(state.PauseText(s)) + "; press " + keys.Break
	case status == deckv1.StageStatus_STAGE_STATUS_FAILURE:
		return text.Line(s.GetStatusReason())
	case status == deckv1.StageStatus_STAGE_STATUS_RUNNING && s.GetCanApprove():
		return approval(s, keys.Approve)
	case status == deckv1.StageStatus_STAGE_STATUS_RUNNING && s.GetProgress() != nil:
		return progressWords(s.GetProgress())
	case s.GetDisplay() != "":
		return text.Line(s.GetDisplay())
	case status == deckv1.StageStatus_STAGE_STATUS_CANCELLED:
		return join(": ", "cancelled", text.Line(s.GetStatusReason()))
	case status == deckv1.StageStatus_STAGE_STATUS_SKIPPED:
		return join(": ", "skipped", text.Line(s.GetStatusReason()))
	case status == deckv1.StageStatus_STAGE_STATUS_EXITED:
		return "ended the deployment"
	}
	return ""
}

// approval says what the key does, and whose approval the stage needs where it needs that of named users; without a
// key, what is waited for.
func approval(stage *deckv1.Stage, key string) string {
	press, as := "press "+key+" to approve", "press "+key+" as " // short: 80 columns have room for little more
	if key == "" {
		press, as = "waits for approval", "waits for approval by "
	}
	if names := stage.GetApprovers(); len(names) > 0 {
		press = as + text.Line(strings.Join(names, " or "))
	}
	if subject := stage.GetApprovalSubject(); subject != "" {
		press += ": " + text.Line(subject)
	}
	if stage.GetApprovalsNeeded() < 2 {
		return press
	}
	so := approvalCount(stage)
	if users := stage.GetApprovedBy(); len(users) > 0 {
		so += ": " + text.Line(strings.Join(users, ", "))
	}
	return so + "; " + press
}

func approvalCount(stage *deckv1.Stage) string {
	return fmt.Sprintf("%d of %d", len(stage.GetApprovedBy()), stage.GetApprovalsNeeded())
}
