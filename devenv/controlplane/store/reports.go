// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// ReportSyncState stores how an application compares with Git.
func (a *Applications) ReportSyncState(pipedID, id string, state *model.ApplicationSyncState) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.findOwned(pipedID, id)
	if err != nil {
		return err
	}
	if state = proto.CloneOf(state); state != nil {
		state.Reason = a.index.named(a.ledger.withFlags(state.GetReason()))
		state.ShortReason = a.index.named(state.GetShortReason())
	}
	old, examined := one.model.GetSyncState(), one.examinedOf
	one.model.SyncState = state
	one.model.UpdatedAt = a.ledger.now().Unix()
	// piped reports the live state first; what it reports at the end of a deployment is not examined yet.
	if one.liveOf == one.model.GetMostRecentlySuccessfulDeployment().GetDeploymentId() {
		one.examinedOf = one.liveOf
	}
	if old == nil || examined != one.examinedOf || old.GetStatus() != state.GetStatus() ||
		old.GetReason() != state.GetReason() || old.GetShortReason() != state.GetShortReason() {
		a.publish(one)
	}
	return nil
}

// ReportDeploying stores whether a deployment of the application is under way.
func (a *Applications) ReportDeploying(pipedID, id string, deploying bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.findOwned(pipedID, id)
	if err != nil {
		return err
	}
	one.model.UpdatedAt = a.ledger.now().Unix()
	if one.model.GetDeploying() != deploying {
		one.model.Deploying = deploying
		a.publish(one)
	}
	return nil
}

// ReportMostRecentDeployment stores the reference for PENDING or SUCCESS. PipeCD v1 keeps no other
// status; those are accepted and dropped.
func (a *Applications) ReportMostRecentDeployment(
	pipedID, id string, status model.DeploymentStatus, ref *model.ApplicationDeploymentReference,
) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.findOwned(pipedID, id)
	if err != nil {
		return err
	}
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		one.model.MostRecentlySuccessfulDeployment = proto.CloneOf(ref)
	case model.DeploymentStatus_DEPLOYMENT_PENDING:
		one.model.MostRecentlyTriggeredDeployment = proto.CloneOf(ref)
	default:
		return nil
	}
	one.model.UpdatedAt = a.ledger.now().Unix()
	a.publish(one)
	return nil
}

// MostRecentDeployment returns the reference for PENDING or SUCCESS; NotFound when there is none.
func (a *Applications) MostRecentDeployment(
	pipedID, id string, status model.DeploymentStatus,
) (*model.ApplicationDeploymentReference, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, err := a.index.findOwned(pipedID, id)
	if err != nil {
		return nil, err
	}
	var ref *model.ApplicationDeploymentReference
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		ref = one.model.GetMostRecentlySuccessfulDeployment()
	case model.DeploymentStatus_DEPLOYMENT_PENDING:
		ref = one.model.GetMostRecentlyTriggeredDeployment()
	}
	if ref == nil {
		return nil, notFound("deployment is not found")
	}
	return proto.CloneOf(ref), nil
}
