// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/insights"
)

// Ended returns all deployments that have ended, as far as they are kept, with what is measured of them.
func (d *Deployments) Ended() []insights.Deployment {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]insights.Deployment, 0, len(d.index.completed))
	for _, one := range d.index.completed {
		m := one.model
		commit := m.GetTrigger().GetCommit()
		ended := insights.Deployment{
			ApplicationID: m.GetApplicationId(), ApplicationName: m.GetApplicationName(),
			Outcome: outcomes[m.GetStatus()], Created: one.created, Ended: one.completed,
			Commit: commit.GetHash(), First: m.GetRunningCommitHash() == "",
		}
		if at := commit.GetCreatedAt(); at > 0 {
			ended.Committed = time.Unix(at, 0)
		}
		retryOf, rollbackTo := (&Deployment{Model: m}).Again()
		ended.Again = retryOf != "" || rollbackTo != ""
		all = append(all, ended)
	}
	return all
}

var outcomes = map[model.DeploymentStatus]insights.Outcome{
	model.DeploymentStatus_DEPLOYMENT_SUCCESS:   insights.Succeeded,
	model.DeploymentStatus_DEPLOYMENT_FAILURE:   insights.Failed,
	model.DeploymentStatus_DEPLOYMENT_CANCELLED: insights.Cancelled,
}
