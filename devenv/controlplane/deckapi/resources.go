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
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// WatchResources sends the live resources of an application, and then what differs in each later report.
func (s *Server) WatchResources(
	r *deckv1.WatchResourcesRequest, stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse],
) error {
	sent := map[string]*deckv1.Resource{}
	for first := true; ; first = false {
		states, news, err := s.store.LiveStates.Resources(r.GetApplicationId())
		if err != nil {
			return err
		}
		if err := sendResources(stream, states, sent, first); err != nil {
			return err
		}
		select {
		case <-news:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

// sendResources sends what differs from what was sent, which it brings up to date. always sends even when nothing does.
func sendResources(stream grpc.ServerStreamingServer[deckv1.WatchResourcesResponse], states []*model.ResourceState,
	sent map[string]*deckv1.Resource, always bool) error {
	response, size := &deckv1.WatchResourcesResponse{}, 0
	there := make(map[string]bool, len(states))
	for _, state := range states {
		there[state.GetId()] = true
		next := resource(state)
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
		CreatedAt: timestamppb.New(time.Unix(r.GetCreatedAt(), 0)),
	}
}

func resourceCounts(c store.ResourceCounts) *deckv1.ResourceCounts {
	return &deckv1.ResourceCounts{Total: c.Total, Unhealthy: c.Unhealthy, Unknown: c.Unknown, Drifted: c.Drifted}
}
