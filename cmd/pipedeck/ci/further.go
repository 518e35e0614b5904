// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/state"
)

// isWatched reports whether an application is in the repository of the environment.
func isWatched(app *deckv1.Application) bool {
	return slices.Contains([]string{"", workspace.RepositoryID}, app.GetRepositoryId())
}

// manual are the names of the applications that only users deploy.
func manual(all []*workspace.Repository) (names []string) {
	for _, repository := range all {
		names = append(names, repository.Manual...)
	}
	return names
}

// registered reports whether piped has registered every application of the repositories. Applications of other
// repositories, which are not on this machine, do not count.
func registered(all []*workspace.Repository, applications []*deckv1.Application) bool {
	for _, repository := range all {
		for _, file := range repository.Applications {
			if !slices.ContainsFunc(applications, func(app *deckv1.Application) bool {
				return pathOf(app) == file &&
					(app.GetRepositoryId() == repository.ID || repository.ID == "" && isWatched(app))
			}) {
				return false
			}
		}
	}
	return true
}

// judgeFurther adds how the applications of other repositories stand: each is deployed at the head of its repository,
// or at the commit that piped finds on a server.
func (r *Run) judgeFurther(d *state.Deck, v *verdict) {
	byHand := manual(r.options.Further)
	v.settled = v.settled && registered(r.options.Further, d.Applications())
	for _, app := range d.Applications() {
		if isWatched(app) || app.GetDisabled() {
			continue
		}
		newest := d.Newest(app.GetId())
		switch {
		case app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG:
			v.broken = append(v.broken, app)
		case newest == nil:
			v.settled = v.settled && (app.GetManual() || slices.Contains(byHand, app.GetName()))
		case !state.Ended(newest.GetStatus()), !r.compared.at(app, newest.GetCommit().GetHash()):
			v.settled = false
		case newest.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS:
			v.failed = append(v.failed, newest)
		}
	}
}
