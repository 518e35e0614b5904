// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

// action is what a user can do with a stage.
type action struct {
	done string
	can  func(*deckv1.Stage) bool
}

var (
	approvable = action{"approved", (*deckv1.Stage).GetCanApprove}
	skippable  = action{"skipped", (*deckv1.Stage).GetCanSkip}
	// continuable stages are paused at a breakpoint.
	continuable = action{"continued", state.Paused}
)

// waiting offers for the first argument the applications with a stage that waits for the action, then the stages; for
// the second one the stages of that application.
func waiting(a action) func(query, *offers) {
	return func(q query, found *offers) {
		var apps []string
		stages := &offers{}
		seen := map[string]bool{}
		for _, d := range q.state.AllDeployments() {
			can := state.StagesThat(d, a.can)
			if len(can) == 0 || len(q.args) > 0 && !names(d, q.args[0]) {
				continue
			}
			if !slices.Contains(apps, d.GetApplicationName()) {
				apps = append(apps, d.GetApplicationName())
			}
			for _, stage := range can {
				word := state.StageArgument(can, stage)
				if !seen[word] {
					seen[word] = true
					stages.add(word, "%s of %s can be %s", stage.GetName(), d.GetApplicationName(), a.done)
				}
			}
		}
		if len(q.args) == 0 {
			for _, name := range apps {
				found.add(name, "has a stage that can be %s", a.done)
			}
		}
		found.list = append(found.list, stages.list...)
	}
}

// names reports whether an argument names the application of a deployment.
func names(d *deckv1.Deployment, argument string) bool {
	return argument == d.GetApplicationName() || argument == d.GetApplicationId()
}

// approvers offers those whose approval the waiting stages need.
func approvers(q query, found *offers) {
	seen := map[string]bool{}
	for _, d := range q.state.AllDeployments() {
		if len(q.args) > 0 && !names(d, q.args[0]) {
			continue
		}
		for _, stage := range state.StagesThat(d, approvable.can) {
			for _, name := range stage.GetApprovers() {
				if !seen[name] {
					seen[name] = true
					found.add(name, "approver of %s of %s", state.StageWord(stage), d.GetApplicationName())
				}
			}
		}
	}
}

// logStages offers the stages that have begun in the newest deployment: of the application, or of all.
func logStages(q query, found *offers) {
	var newest *deckv1.Deployment
	switch {
	case len(q.args) > 0:
		if app := q.application(); app != nil {
			newest = q.state.Newest(app.GetId())
		}
	default:
		if all := q.state.AllDeployments(); len(all) > 0 {
			newest = all[0]
		}
	}
	for _, stage := range newest.GetStages() {
		if stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_NOT_STARTED {
			found.add(state.StageArgument(newest.GetStages(), stage), "%s %s", stage.GetName(),
				reader.Name(stage.GetStatus()))
		}
	}
}
