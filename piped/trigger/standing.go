// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

// standing is how the deployments of all applications stand, as the control plane has just answered. The list of
// applications that the passes keep is too old for that: no news brings another one when a deployment begins or ends.
type standing struct {
	applications map[string]*model.Application
	// open are the deployments that have not ended, the newest of each application, by its id.
	open map[string]*model.Deployment
}

func readStanding(ctx context.Context, plane pipedservice.PipedServiceClient) (*standing, error) {
	s := &standing{applications: map[string]*model.Application{}, open: map[string]*model.Deployment{}}
	deployments, err := controlplane.OpenDeployments(ctx, plane)
	if err != nil {
		return nil, fmt.Errorf("list the deployments under way: %w", err)
	}
	for _, d := range deployments {
		if last := s.open[d.GetApplicationId()]; last == nil ||
			d.GetTrigger().GetTimestamp() > last.GetTrigger().GetTimestamp() {
			s.open[d.GetApplicationId()] = d
		}
	}
	answer, err := plane.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	if err != nil {
		return nil, fmt.Errorf("list the applications: %w", err)
	}
	for _, a := range answer.GetApplications() {
		s.applications[a.GetId()] = a
	}
	return s, nil
}

// state is the sync state of an application whose configuration is valid again, until its live state is compared.
// before is its state before the configuration was broken, nil when that is not known. SYNCED counts only when the last
// deployment has succeeded: it may be the state from before that deployment.
func (s *standing) state(a *model.Application, before *model.ApplicationSyncState) *model.ApplicationSyncState {
	now := cmp.Or(s.applications[a.GetId()], a)
	d := s.open[a.GetId()]
	switch status := before.GetStatus(); {
	case d != nil:
		return &model.ApplicationSyncState{
			Status: model.ApplicationSyncStatus_DEPLOYING,
			ShortReason: fmt.Sprintf("Deployment of commit %.7s is under way",
				d.GetTrigger().GetCommit().GetHash()),
			HeadDeploymentId: d.GetId(),
		}
	case status == model.ApplicationSyncStatus_OUT_OF_SYNC,
		status == model.ApplicationSyncStatus_SYNCED && hasSucceeded(now):
		return &model.ApplicationSyncState{
			Status: status, ShortReason: before.GetShortReason(), Reason: before.GetReason(),
		}
	case !hasSucceeded(now): // the live state does not decide then
		const short = "The last deployment did not succeed"
		return &model.ApplicationSyncState{
			Status: model.ApplicationSyncStatus_OUT_OF_SYNC, ShortReason: short,
			Reason: short + "; next step: pipedeck sync " + a.GetName(),
		}
	}
	return &model.ApplicationSyncState{
		Status: model.ApplicationSyncStatus_UNKNOWN, ShortReason: "The application configuration is valid again",
	}
}

// hasSucceeded reports whether the deployment that was triggered last has succeeded. A removal that was broken off
// because its application is in Git again has not.
func hasSucceeded(a *model.Application) bool {
	triggered := a.GetMostRecentlyTriggeredDeployment()
	return triggered == nil || triggered.GetDeploymentId() == a.GetMostRecentlySuccessfulDeployment().GetDeploymentId()
}
