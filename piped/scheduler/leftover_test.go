// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// leftovers is a control plane with what an earlier piped has left.
type leftovers struct {
	pipedservice.PipedServiceClient // nil: other calls fail the test loudly

	applications []*model.Application
	deployments  map[string]*model.Deployment
	sync         map[string]*model.ApplicationSyncState
	ended        []string
}

func (l *leftovers) ListApplications(
	context.Context, *pipedservice.ListApplicationsRequest, ...grpc.CallOption,
) (*pipedservice.ListApplicationsResponse, error) {
	return &pipedservice.ListApplicationsResponse{Applications: l.applications}, nil
}

func (l *leftovers) GetDeployment(
	_ context.Context, r *pipedservice.GetDeploymentRequest, _ ...grpc.CallOption,
) (*pipedservice.GetDeploymentResponse, error) {
	if d := l.deployments[r.GetId()]; d != nil {
		return &pipedservice.GetDeploymentResponse{Deployment: d}, nil
	}
	return nil, status.Error(codes.NotFound, "no such deployment")
}

func (l *leftovers) ReportApplicationSyncState(
	_ context.Context, r *pipedservice.ReportApplicationSyncStateRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportApplicationSyncStateResponse, error) {
	l.sync[r.GetApplicationId()] = r.GetState()
	return &pipedservice.ReportApplicationSyncStateResponse{}, nil
}

func (l *leftovers) ReportApplicationDeployingStatus(
	_ context.Context, r *pipedservice.ReportApplicationDeployingStatusRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportApplicationDeployingStatusResponse, error) {
	if !r.GetDeploying() {
		l.ended = append(l.ended, r.GetApplicationId())
	}
	return &pipedservice.ReportApplicationDeployingStatusResponse{}, nil
}

func TestApplicationsThatAnEarlierPipedHasLeftAsDeployingAreCorrected(t *testing.T) {
	t.Parallel()
	application := func(id string, deploying bool, state model.ApplicationSyncStatus) *model.Application {
		return &model.Application{Id: id, Deploying: deploying, SyncState: &model.ApplicationSyncState{Status: state},
			MostRecentlyTriggeredDeployment: &model.ApplicationDeploymentReference{DeploymentId: id + "-1"}}
	}
	busy := model.ApplicationSyncStatus_DEPLOYING
	l := &leftovers{
		applications: []*model.Application{
			application("succeeded", true, busy), application("failed", true, busy), application("open", true, busy),
			application("gone", true, busy), application("flag", true, model.ApplicationSyncStatus_SYNCED),
			application("well", false, model.ApplicationSyncStatus_SYNCED),
		},
		deployments: map[string]*model.Deployment{
			"succeeded-1": {ApplicationId: "succeeded", Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS},
			"failed-1": {ApplicationId: "failed", Status: model.DeploymentStatus_DEPLOYMENT_FAILURE,
				StatusReason: "no such image"},
			"open-1": {ApplicationId: "open", Status: model.DeploymentStatus_DEPLOYMENT_RUNNING},
			"flag-1": {ApplicationId: "flag", Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS},
			"well-1": {ApplicationId: "well", Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS},
		},
		sync: map[string]*model.ApplicationSyncState{},
	}
	c := NewController(ControllerOptions{ControlPlane: l})
	require.NoError(t, c.ConcludeLeftovers(t.Context(), []*model.Deployment{l.deployments["open-1"]}))
	require.Len(t, l.sync, 2)
	require.Equal(t, model.ApplicationSyncStatus_SYNCED, l.sync["succeeded"].GetStatus())
	require.Equal(t, model.ApplicationSyncStatus_OUT_OF_SYNC, l.sync["failed"].GetStatus())
	require.Equal(t, "no such image", l.sync["failed"].GetReason())
	require.Equal(t, []string{"succeeded", "failed", "flag"}, l.ended)
}
