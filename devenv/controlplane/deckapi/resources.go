// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// WatchResources sends the live resources of an application, and then what differs in each later report.
func (s *Server) WatchResources(
	r *deckv1.WatchResourcesRequest, stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse],
) error {
	sent := map[string]*deckv1.Resource{}
	for first := true; ; first = false {
		live, err := s.store.LiveStates.Resources(r.GetApplicationId())
		if err != nil {
			return err
		}
		if err := sendResources(stream, live, sent, first); err != nil {
			return err
		}
		select {
		case <-live.News:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// sendResources sends what differs from what was sent, which it brings up to date. always sends even when nothing does.
func sendResources(stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse], live store.Resources,
	sent map[string]*deckv1.Resource, always bool) error {
	response, size := &deckv1.WatchResourcesResponse{}, 0
	there := make(map[string]bool, len(live.List))
	for _, state := range live.List {
		there[state.GetId()] = true
		next := resource(state)
		addDrift(next, live.Drifts[state.GetId()])
		if proto.Equal(next, sent[next.GetId()]) {
			continue
		}
		sent[next.GetId()] = next
		response.Resources = append(response.Resources, next)
		if size += proto.Size(next); size >= batchBytes {
			if err := stream.Send(response); err != nil {
				return err
			}
			response, size, always = &deckv1.WatchResourcesResponse{}, 0, true
		}
	}
	for id := range sent {
		if !there[id] {
			delete(sent, id)
			response.Removed = append(response.Removed, id)
		}
	}
	if !always && len(response.GetResources()) == 0 && len(response.GetRemoved()) == 0 {
		return nil
	}
	response.Complete = true
	return stream.Send(response)
}

func resource(r *model.ResourceState) *deckv1.Resource {
	health := deckv1.HealthStatus_HEALTH_STATUS_UNKNOWN
	switch r.GetHealthStatus() {
	case model.ResourceState_HEALTHY:
		health = deckv1.HealthStatus_HEALTH_STATUS_HEALTHY
	case model.ResourceState_UNHEALTHY:
		health = deckv1.HealthStatus_HEALTH_STATUS_OTHER
	}
	return &deckv1.Resource{
		Id: r.GetId(), ParentIds: r.GetParentIds(), Kind: r.GetResourceType(), Name: r.GetName(),
		Namespace: r.GetResourceMetadata()["Namespace"], DeployTarget: r.GetPluginName() + "/" + r.GetDeployTarget(),
		Health: health, HealthReason: r.GetHealthDescription(), Drift: r.GetResourceMetadata()[store.MetadataDrift],
		CreatedAt: created(r),
	}
}

// created is when a resource was created; nil where its plugin does not know that: it has the time of the look then,
// because the protocol needs one.
func created(r *model.ResourceState) *timestamppb.Timestamp {
	if at := r.GetCreatedAt(); at > 0 && at != r.GetUpdatedAt() {
		return timestamppb.New(time.Unix(at, 0))
	}
	return nil
}

// addDrift adds the fields in which a resource differs from Git; a nil drift has none.
func addDrift(r *deckv1.Resource, d *livestate.ResourceDrift) {
	r.MoreFields, r.PutBackRefused = d.GetMoreFields(), d.GetRefused()
	for _, f := range d.GetFields() {
		r.Fields = append(r.Fields, &deckv1.FieldDrift{
			Path: f.GetPath(), GitValue: f.GetGitValue(), LiveValue: f.GetLiveValue(),
			AppliedValue: f.GetAppliedValue(), Change: deckv1.FieldDrift_Change(f.GetChange()),
			Secret: f.GetSecret(), Writer: f.GetWriter(),
		})
	}
	if n := len(r.GetFields()) + int(r.GetMoreFields()); n > 0 && r.GetDrift() == "" {
		r.Drift = line.Count(n, "field") + " " + howChanged(d)
	}
}

// howChanged says which side of the fields has changed, where all of them are known and agree on that.
func howChanged(d *livestate.ResourceDrift) string {
	changes := map[livestate.FieldDrift_Change]bool{}
	for _, f := range d.GetFields() {
		changes[f.GetChange()] = true
	}
	switch {
	case len(changes) != 1 || d.GetMoreFields() > 0:
	case changes[livestate.FieldDrift_CHANGE_GIT]:
		return "changed in Git since the last deployment"
	case changes[livestate.FieldDrift_CHANGE_LIVE]:
		return "changed live since the last deployment"
	}
	return "not as in Git"
}

func resourceCounts(c store.ResourceCounts) *deckv1.ResourceCounts {
	return &deckv1.ResourceCounts{Total: c.Total, Unhealthy: c.Unhealthy, Unknown: c.Unknown, Drifted: c.Drifted}
}
