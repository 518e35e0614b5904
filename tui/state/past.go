// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Retryable returns the deployment of an application that can be retried, which is its newest. Where that cannot be
// retried, reason says why; the deployment is nil then.
func (d *Deck) Retryable(app *deckv1.Application) (deployment *deckv1.Deployment, reason string) {
	newest := d.Newest(app.GetId())
	switch reason := d.noPast(app); {
	case reason != "":
		return nil, reason
	case newest.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
		return nil, "nothing failed: the newest deployment of " + app.GetName() + " has succeeded"
	}
	return newest, ""
}

// RollbackTargets returns the deployments that an application can be rolled back to, the newest first: of each commit
// the last deployment that has succeeded, without the commit that is live. Where there are none, reason says why.
func (d *Deck) RollbackTargets(app *deckv1.Application) (targets []*deckv1.Deployment, reason string) {
	if reason := d.noPast(app); reason != "" {
		return nil, reason
	}
	const success = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	seen := map[string]bool{LiveCommit(d.Newest(app.GetId())): true}
	for _, one := range d.Deployments(app.GetId()) {
		if hash := one.GetCommit().GetHash(); one.GetStatus() == success && !seen[hash] {
			seen[hash] = true
			targets = append(targets, one)
		}
	}
	if len(targets) == 0 {
		return nil, "no earlier deployment of " + app.GetName() + " with another commit has succeeded"
	}
	return targets, ""
}

// LiveCommit returns the commit that is live after the newest deployment of an application; empty when that is not
// known: it runs, or it has ended without success and without a whole rollback.
func LiveCommit(newest *deckv1.Deployment) string {
	if newest.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS {
		return newest.GetCommit().GetHash()
	}
	rolledBack := false
	for _, stage := range newest.GetStages() {
		switch {
		case !stage.GetRollback():
		case stage.GetStatus() != deckv1.StageStatus_STAGE_STATUS_SUCCESS:
			return ""
		default:
			rolledBack = true
		}
	}
	if !rolledBack || !Ended(newest.GetStatus()) {
		return ""
	}
	return newest.GetRunningCommit()
}

// noPast says why no earlier commit of an application can be deployed now; empty when one can.
func (d *Deck) noPast(app *deckv1.Application) string {
	piped := d.pipeds[app.GetPipedId()]
	switch newest := d.Newest(app.GetId()); {
	case app == nil:
		return "no application is selected"
	case app.GetDisabled():
		return app.GetName() + " is disabled"
	case newest == nil:
		return app.GetName() + " was never deployed"
	case !Ended(newest.GetStatus()):
		return "a deployment of " + app.GetName() + " still runs; cancel it first"
	case !piped.GetDeploysCommits():
		return "piped " + d.PipedName(app.GetPipedId()) + " cannot deploy an earlier commit, only the piped of this " +
			"version of pipedeck does; push a commit that reverts the change"
	}
	return ""
}

// OfRemoved returns the deployments of a deck whose application is not there any more, the newest first. Those of an
// application that is removed while the deck is followed are forgotten with it.
func OfRemoved(d *Deck) []*deckv1.Deployment {
	var all []*deckv1.Deployment
	for id, list := range d.byApplication {
		if d.applications[id] == nil {
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b *deckv1.Deployment) int {
		return cmp.Or(b.GetCreatedAt().AsTime().Compare(a.GetCreatedAt().AsTime()), cmp.Compare(b.GetId(), a.GetId()))
	})
	return all
}
