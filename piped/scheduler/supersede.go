// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// supersede ends the deployments that the newest one of their application supersedes: those that wait for their turn at
// once, one under way at once or when it waits. What is decided follows from the deployments alone, so it is the same
// after a restart. It is called with the lock held.
func (c *Controller) supersede() {
	newest := map[string]*model.Deployment{} // by application
	for _, d := range c.waiting {
		before := newest[d.GetApplicationId()]
		if supersede.ReachOf(d) != supersede.Nothing && (before == nil || supersede.Compare(before, d) <= 0) {
			newest[d.GetApplicationId()] = d
		}
	}
	for application, j := range c.active {
		j.supersede(newest[application])
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(d *model.Deployment) bool {
		by := newest[d.GetApplicationId()]
		if d.GetStatus() != model.DeploymentStatus_DEPLOYMENT_PENDING || !superseded(d, by) {
			return false
		}
		c.end(d, &CancelledError{By: byOf(by)})
		return true
	})
}

// supersede ends the deployment under way for a newer one, at once or when it waits; nil withdraws that.
func (j *job) supersede(by *model.Deployment) {
	switch {
	case !superseded(j.deployment, by):
		j.cancellation.Offer(nil)
	case supersede.ReachOf(by) == supersede.Running:
		j.cancellation.Cancel(&CancelledError{By: byOf(by)})
	default:
		j.cancellation.Offer(&CancelledError{By: byOf(by)})
	}
}

// superseded reports whether a deployment, nil for none, may end another one of its application.
func superseded(d, by *model.Deployment) bool {
	return by != nil && by.GetId() != d.GetId() && supersede.Possible(d) && supersede.Compare(d, by) <= 0
}

func byOf(d *model.Deployment) supersede.By {
	return supersede.By{Deployment: d.GetId(), Commit: d.GetTrigger().GetCommit().GetHash()}
}
