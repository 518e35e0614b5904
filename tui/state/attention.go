// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Attention counts what a reader of a whole environment has to know.
type Attention struct {
	// FailedApplications have not succeeded since a deployment failed, or have a configuration that is not valid;
	// UnhealthyApplications are others whose resources are not healthy. Disabled ones count in neither.
	FailedApplications, UnhealthyApplications int
	// Waiting deployments have a stage that waits for an approval, or is paused at a breakpoint.
	Waiting int
	// Plugins are all plugins, RunningPlugins those that run, FailedPlugins those that are not started again by
	// themselves.
	Plugins, RunningPlugins, FailedPlugins int
}

// Attention counts the applications and plugins that are known now.
func (d *Deck) Attention() Attention {
	a := Attention{Plugins: len(d.plugins)}
	for id, app := range d.applications {
		switch {
		case app.GetDisabled():
		case ApplicationFailed(app, d.Outcome(id)):
			a.FailedApplications++
		case app.GetHealth() == deckv1.HealthStatus_HEALTH_STATUS_OTHER:
			a.UnhealthyApplications++
		}
	}
	for id := range d.running {
		waits := func(s *deckv1.Stage) bool { return s.GetCanApprove() || Paused(s) }
		if slices.ContainsFunc(d.deployments[id].GetStages(), waits) {
			a.Waiting++
		}
	}
	for _, plugin := range d.plugins {
		switch plugin.GetState() {
		case deckv1.Plugin_STATE_RUNNING:
			a.RunningPlugins++
		case deckv1.Plugin_STATE_FAILED:
			a.FailedPlugins++
		}
	}
	return a
}

// ApplicationFailed reports whether an application failed by the outcome of its last deployment, or its configuration
// is not valid. See Deck.Outcome.
func ApplicationFailed(app *deckv1.Application, outcome *deckv1.Deployment) bool {
	return outcome.GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE && !app.GetDeploying() ||
		app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG
}
