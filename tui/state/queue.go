// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

const pending = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING

// Queued returns the deployments of an application that wait for its present one, the oldest first.
func (d *Deck) Queued(application string) (queued []*deckv1.Deployment) {
	present := d.Present(application)
	for _, one := range slices.Backward(d.byApplication[application]) {
		if one != present && one.GetStatus() == pending {
			queued = append(queued, one)
		}
	}
	return queued
}

// Ahead returns the deployment under way that a pending one waits for; nil where it waits for none.
func (d *Deck) Ahead(one *deckv1.Deployment) *deckv1.Deployment {
	present := d.Present(one.GetApplicationId())
	if one.GetStatus() != pending || present.GetStatus() == pending || Ended(present.GetStatus()) {
		return nil
	}
	return present
}
