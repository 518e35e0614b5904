// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// ReportSyncState stores how an application compares with Git.
func (s *Store) ReportSyncState(pipedID, id string, state *model.ApplicationSyncState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.ownedApplication(pipedID, id)
	if err != nil {
		return err
	}
	old := a.model.GetSyncState()
	a.model.SyncState = proto.CloneOf(state)
	a.model.UpdatedAt = s.now().Unix()
	if old == nil || old.GetStatus() != state.GetStatus() || old.GetReason() != state.GetReason() || old.GetShortReason() != state.GetShortReason() {
		s.publish(Change{Application: s.applicationView(a)})
	}
	return nil
}

// ReportDeploying stores whether a deployment of the application is under way.
func (s *Store) ReportDeploying(pipedID, id string, deploying bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.ownedApplication(pipedID, id)
	if err != nil {
		return err
	}
	a.model.UpdatedAt = s.now().Unix()
	if a.model.GetDeploying() != deploying {
		a.model.Deploying = deploying
		s.publish(Change{Application: s.applicationView(a)})
	}
	return nil
}

// ReportMostRecentDeployment stores the reference for PENDING or SUCCESS. PipeCD v1 keeps no other
// status; those are accepted and dropped.
func (s *Store) ReportMostRecentDeployment(pipedID, id string, status model.DeploymentStatus, ref *model.ApplicationDeploymentReference) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.ownedApplication(pipedID, id)
	if err != nil {
		return err
	}
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		a.model.MostRecentlySuccessfulDeployment = proto.CloneOf(ref)
	case model.DeploymentStatus_DEPLOYMENT_PENDING:
		a.model.MostRecentlyTriggeredDeployment = proto.CloneOf(ref)
	default:
		return nil
	}
	a.model.UpdatedAt = s.now().Unix()
	s.publish(Change{Application: s.applicationView(a)})
	return nil
}

// MostRecentDeployment returns the reference for PENDING or SUCCESS; NotFound when there is none.
func (s *Store) MostRecentDeployment(pipedID, id string, status model.DeploymentStatus) (*model.ApplicationDeploymentReference, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.ownedApplication(pipedID, id)
	if err != nil {
		return nil, err
	}
	var ref *model.ApplicationDeploymentReference
	switch status {
	case model.DeploymentStatus_DEPLOYMENT_SUCCESS:
		ref = a.model.GetMostRecentlySuccessfulDeployment()
	case model.DeploymentStatus_DEPLOYMENT_PENDING:
		ref = a.model.GetMostRecentlyTriggeredDeployment()
	}
	if ref == nil {
		return nil, notFound("deployment is not found")
	}
	return proto.CloneOf(ref), nil
}

// ReportLiveState stores the last snapshot of an application.
func (s *Store) ReportLiveState(pipedID string, snapshot *model.ApplicationLiveStateSnapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.ownedApplication(pipedID, snapshot.GetApplicationId())
	if err != nil {
		return err
	}
	healthBefore, countsBefore := health(a.live), a.counts
	a.live = proto.CloneOf(snapshot)
	a.counts = count(a.live.GetApplicationLiveState().GetResources())
	a.tellNews()
	if health(a.live) != healthBefore || a.counts != countsBefore {
		s.publish(Change{Application: s.applicationView(a)})
	}
	return nil
}

// LiveState returns the last snapshot of an application.
func (s *Store) LiveState(id string) (*model.ApplicationLiveStateSnapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.application(id)
	if err != nil {
		return nil, err
	}
	if a.live == nil {
		return nil, notFound("no live state was reported for application %s", id)
	}
	return proto.CloneOf(a.live), nil
}

// ApplyLiveStateEvents brings snapshots of a PipeCD v0 piped up to date, and returns the ids of
// the events that belong to no snapshot of this piped.
func (s *Store) ApplyLiveStateEvents(pipedID string, events []*model.KubernetesResourceStateEvent) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed []string
	for _, e := range events {
		a, err := s.ownedApplication(pipedID, e.GetApplicationId())
		if err != nil || a.live.GetKubernetes() == nil {
			failed = append(failed, e.GetId())
			continue
		}
		k := a.live.GetKubernetes()
		kept := make([]*model.KubernetesResourceState, 0, len(k.GetResources())+1)
		for _, r := range k.GetResources() {
			if r.GetId() != e.GetState().GetId() {
				kept = append(kept, r)
			}
		}
		if e.GetType() == model.KubernetesResourceStateEvent_ADD_OR_UPDATED {
			kept = append(kept, proto.CloneOf(e.GetState()))
		}
		k.Resources = kept
	}
	return failed
}

// health sums a live state up. PipeCD v1: the state's own verdict; a resource that is not healthy
// shows through even where a piped only says "unknown".
func health(live *model.ApplicationLiveStateSnapshot) model.ApplicationLiveState_Status {
	state := live.GetApplicationLiveState()
	if h := state.GetHealthStatus(); h != model.ApplicationLiveState_UNKNOWN {
		return h
	}
	for _, r := range state.GetResources() {
		if r.GetHealthStatus() == model.ResourceState_UNHEALTHY {
			return model.ApplicationLiveState_OTHER
		}
	}
	switch live.GetHealthStatus() {
	case model.ApplicationLiveStateSnapshot_HEALTHY:
		return model.ApplicationLiveState_HEALTHY
	case model.ApplicationLiveStateSnapshot_OTHER, model.ApplicationLiveStateSnapshot_UNHEALTHY:
		return model.ApplicationLiveState_OTHER
	default:
		return model.ApplicationLiveState_UNKNOWN
	}
}
