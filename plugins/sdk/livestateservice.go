// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// livestateService answers piped with what a plugin saw at its deploy targets.
type livestateService struct {
	livestate.UnimplementedLivestateServiceServer
	handlers *handlers
	name     string
	now      func() time.Time
}

func (s *livestateService) GetLivestate(ctx context.Context,
	req *livestate.GetLivestateRequest) (*livestate.GetLivestateResponse, error) {
	state, err := s.handlers.livestate(ctx, req)
	if err != nil {
		return nil, asStatus(err, "get the live state of application "+req.GetApplicationName())
	}
	if state == nil {
		state = &Livestate{}
	}
	now := s.now().Unix()
	for _, resource := range state.Resources {
		resource.PluginName = s.name
		resource.UpdatedAt = now
		if resource.GetCreatedAt() <= 0 { // the control plane refuses those
			resource.CreatedAt = now
		}
	}
	if state.Sync != nil && state.Sync.GetTimestamp() <= 0 {
		state.Sync.Timestamp = now
	}
	return &livestate.GetLivestateResponse{
		ApplicationLiveState: &model.ApplicationLiveState{Resources: state.Resources,
			HealthStatus: healthOf(state.Resources)},
		SyncState: state.Sync,
	}, nil
}

// healthOf follows PipeCD v1: one unknown resource makes the whole unknown, else one unhealthy other.
func healthOf(resources []*model.ResourceState) model.ApplicationLiveState_Status {
	health := model.ApplicationLiveState_HEALTHY
	for _, resource := range resources {
		switch resource.GetHealthStatus() {
		case model.ResourceState_UNKNOWN:
			return model.ApplicationLiveState_UNKNOWN
		case model.ResourceState_UNHEALTHY:
			health = model.ApplicationLiveState_OTHER
		}
	}
	return health
}
