// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/redeploy"
)

// ConcludeLeftovers reports what became of applications that are said to be deploying and have no open deployment: an
// earlier piped has stopped between the end of a deployment and the reports that follow it. open has just been listed.
// A deployment that has begun since is not completed, so its application stays as it is.
func (c *Controller) ConcludeLeftovers(ctx context.Context, open []*model.Deployment) error {
	deploying := map[string]bool{}
	for _, d := range open {
		deploying[d.GetApplicationId()] = true
	}
	answer, err := c.options.ControlPlane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return fmt.Errorf("list the applications: %w", err)
	}
	for _, a := range answer.GetApplications() {
		if !deploying[a.GetId()] && (a.GetDeploying() || saysDeploying(a)) {
			c.conclude(ctx, a)
		}
	}
	return nil
}

func saysDeploying(a *model.Application) bool {
	return a.GetSyncState().GetStatus() == model.ApplicationSyncStatus_DEPLOYING
}

// conclude reports an application as its last deployment has left it. What that deployment was is asked for: its other
// reports may be missing as well. Without an answer the application stays as it is.
func (c *Controller) conclude(ctx context.Context, a *model.Application) {
	last := a.GetMostRecentlyTriggeredDeployment()
	answer, err := c.options.ControlPlane.GetDeployment(ctx,
		&pipedservice.GetDeploymentRequest{Id: last.GetDeploymentId()})
	if err != nil || !completed(answer.GetDeployment().GetStatus()) {
		return
	}
	j := &job{controller: c, deployment: answer.GetDeployment()}
	if saysDeploying(a) {
		status := model.ApplicationSyncStatus_OUT_OF_SYNC
		short, reason := "The last deployment did not succeed", answer.GetDeployment().GetStatusReason()
		if answer.GetDeployment().GetStatus() == model.DeploymentStatus_DEPLOYMENT_SUCCESS {
			if short, reason = redeploy.SyncState(answer.GetDeployment()); short == "" {
				status = model.ApplicationSyncStatus_SYNCED
			}
		}
		j.reportSync(ctx, status, short, reason)
	}
	if a.GetDeploying() {
		j.reportDeploying(ctx, false)
	}
}
