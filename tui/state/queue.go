// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"

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

// QueueTime is how long a deployment waited for earlier ones of its application to end before its own stages began, or
// waits until now.
// all are the deployments of the application.
func QueueTime(one *deckv1.Deployment, all []*deckv1.Deployment, now time.Time) time.Duration {
	created := one.GetCreatedAt().AsTime()
	began := now
	if one.GetCompletedAt().IsValid() {
		began = one.GetCompletedAt().AsTime()
	}
	for _, stage := range one.GetStages() {
		if at := stage.GetStartedAt(); at.IsValid() && at.AsTime().Before(began) {
			began = at.AsTime()
		}
	}
	free := created
	for _, other := range all {
		ended := now
		if Ended(other.GetStatus()) {
			ended = other.GetCompletedAt().AsTime()
		}
		if other.GetCreatedAt().AsTime().Before(created) && ended.After(free) && !ended.After(began) {
			free = ended
		}
	}
	return free.Sub(created)
}
