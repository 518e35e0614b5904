// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"fmt"
	"strings"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// Ran is what an application's deployment of HEAD did.
type Ran struct {
	Application
	// Deployment is nil where HEAD did not deploy the application.
	Deployment *deckv1.Deployment
}

// Ran returns what ran of each application of the range at HEAD, by their configuration files; nil without a range and
// when HEAD was not reached.
func (o *Outcome) Ran() (ran []Ran) {
	if o.Range == nil || o.Head == nil {
		return nil
	}
	p := &phase{commit: o.Range.Head}
	byFile := map[string]*deckv1.Application{}
	for _, app := range o.Head.Applications() {
		byFile[fileOf(app)] = app
	}
	for _, a := range o.Range.Applications {
		one := Ran{Application: a}
		if app := byFile[a.File]; app != nil {
			one.Deployment = p.deployment(o.Head, app)
		}
		ran = append(ran, one)
	}
	return ran
}

// Summary says what ran, a line for each application; none without a range and when HEAD was not reached.
func (o *Outcome) Summary() (lines []string) {
	gone := map[string]*Removal{}
	for _, one := range o.removals {
		gone[one.File] = one
	}
	for _, ran := range o.Ran() {
		text := ran.text()
		if one := gone[ran.File]; one != nil {
			text = one.Text()
		}
		lines = append(lines, ran.Title()+": "+text)
	}
	if len(lines) > 0 {
		lines = append([]string{fmt.Sprintf("what ran from base %s to HEAD %s:", line.Commit(o.Range.Base.Head),
			line.Commit(o.Range.Head))}, lines...)
	}
	return lines
}

// text is the fate of an application and, where it was deployed, the strategy and the stages.
func (r Ran) text() string {
	fate := r.Fate
	if fate == Undeployed {
		fate = Touched // a user may have deployed it
	}
	if r.Deployment == nil {
		if fate == Unchanged {
			return "unchanged, skipped"
		}
		return fmt.Sprintf("%s, not deployed: %s", fate, r.Why)
	}
	d := r.Deployment
	parts := []string{fmt.Sprintf("%s, %s %s", fate, d.GetStrategy(), reader.Name(d.GetStatus()))}
	if took := elapsed(d.GetCreatedAt().AsTime(), d.GetCompletedAt().AsTime()); took != "" {
		parts[0] += " " + took
	}
	if d.GetStrategy() != "PIPELINE" && d.GetSummary() != "" {
		parts[0] += " (" + d.GetSummary() + ")"
	}
	for _, stage := range d.GetStages() {
		if stage.GetRollback() && stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			continue
		}
		part := "  " + stage.GetName() + " " + reader.Name(stage.GetStatus())
		ran := stage.GetCompletedAt().AsTime().Add(-stage.GetPaused().AsDuration())
		if took := elapsed(stage.GetStartedAt().AsTime(), ran); took != "" &&
			state.StageEnded(stage.GetStatus()) {
			part += " " + took
		}
		if word := state.StageWord(stage); word != stage.GetName() {
			part = "  " + word + " (" + stage.GetName() + ")" + strings.TrimPrefix(part, "  "+stage.GetName())
		}
		if stage.GetDisplay() != "" {
			part += ": " + stage.GetDisplay()
		} else if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_FAILURE {
			part += ": " + stage.GetStatusReason()
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "\n")
}

// elapsed is a duration for readers; empty where either time is not known.
func elapsed(from, to time.Time) string {
	if from.Unix() <= 0 || to.Unix() <= 0 || to.Before(from) {
		return ""
	}
	return "in " + to.Sub(from).Round(100*time.Millisecond).String()
}
