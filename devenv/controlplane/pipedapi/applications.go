// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"
	"path"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// ListApplications answers with the caller's enabled applications. PipeCD's protocol has no pages here; ours are
// those of AgentService.
func (s *Server) ListApplications(
	ctx context.Context, _ *ps.ListApplicationsRequest,
) (*ps.ListApplicationsResponse, error) {
	applications, more := s.store.Applications.OfPiped(auth.Piped(ctx), "", "", whole)
	if more {
		return nil, status.Errorf(codes.ResourceExhausted,
			"the applications of this piped take more than the %d bytes that it accepts; "+
				"divide them among several pipeds, or use a piped that lists them in pages", maxPageBytes)
	}
	return &ps.ListApplicationsResponse{Applications: applications}, nil
}

// applicationPosition is the last application of a page.
type applicationPosition struct {
	Name string `json:"n"`
	ID   string `json:"i"`
}

// PageApplications answers with a page of the caller's enabled applications.
func (a *Agent) PageApplications(
	ctx context.Context, r *agentv1.PageApplicationsRequest,
) (*agentv1.PageApplicationsResponse, error) {
	var at applicationPosition
	if err := decodeCursor(r.GetCursor(), &at); err != nil {
		return nil, err
	}
	applications, more := a.store.Applications.OfPiped(auth.Piped(ctx), at.Name, at.ID, page)
	if !more {
		return &agentv1.PageApplicationsResponse{Applications: applications}, nil
	}
	last := applications[len(applications)-1]
	cursor, err := encodeCursor(applicationPosition{last.GetName(), last.GetId()})
	return reply(&agentv1.PageApplicationsResponse{Applications: applications, Cursor: cursor}, err)
}

// ReportApplicationSyncState stores how an application compares with Git.
func (s *Server) ReportApplicationSyncState(
	ctx context.Context, r *ps.ReportApplicationSyncStateRequest,
) (*ps.ReportApplicationSyncStateResponse, error) {
	return reply(&ps.ReportApplicationSyncStateResponse{},
		s.store.Applications.ReportSyncState(auth.Piped(ctx), r.GetApplicationId(), r.GetState()))
}

// ReportApplicationDeployingStatus stores whether a deployment is under way.
func (s *Server) ReportApplicationDeployingStatus(
	ctx context.Context, r *ps.ReportApplicationDeployingStatusRequest,
) (*ps.ReportApplicationDeployingStatusResponse, error) {
	return reply(&ps.ReportApplicationDeployingStatusResponse{},
		s.store.Applications.ReportDeploying(auth.Piped(ctx), r.GetApplicationId(), r.GetDeploying()))
}

// ReportApplicationMostRecentDeployment stores the newest triggered or successful deployment.
func (s *Server) ReportApplicationMostRecentDeployment(
	ctx context.Context, r *ps.ReportApplicationMostRecentDeploymentRequest,
) (*ps.ReportApplicationMostRecentDeploymentResponse, error) {
	return reply(&ps.ReportApplicationMostRecentDeploymentResponse{},
		s.store.Applications.ReportMostRecentDeployment(auth.Piped(ctx), r.GetApplicationId(), r.GetStatus(),
			r.GetDeployment()))
}

// GetApplicationMostRecentDeployment answers NotFound when there is none yet: PipeCD's piped takes
// an empty answer for a deployment.
func (s *Server) GetApplicationMostRecentDeployment(
	ctx context.Context, r *ps.GetApplicationMostRecentDeploymentRequest,
) (*ps.GetApplicationMostRecentDeploymentResponse, error) {
	ref, err := s.store.Applications.MostRecentDeployment(auth.Piped(ctx), r.GetApplicationId(), r.GetStatus())
	return reply(&ps.GetApplicationMostRecentDeploymentResponse{Deployment: ref}, err)
}

// ReportApplicationLiveState stores the last live state.
func (s *Server) ReportApplicationLiveState(
	ctx context.Context, r *ps.ReportApplicationLiveStateRequest,
) (*ps.ReportApplicationLiveStateResponse, error) {
	return reply(&ps.ReportApplicationLiveStateResponse{}, s.store.LiveStates.Report(auth.Piped(ctx), r.GetSnapshot()))
}

// ReportApplicationLiveStateEvents changes the last live state (PipeCD v0).
func (s *Server) ReportApplicationLiveStateEvents(
	ctx context.Context, r *ps.ReportApplicationLiveStateEventsRequest,
) (*ps.ReportApplicationLiveStateEventsResponse, error) {
	return &ps.ReportApplicationLiveStateEventsResponse{
		FailedIds: s.store.LiveStates.Apply(auth.Piped(ctx), r.GetKubernetesEvents()),
	}, nil
}

// UpdateApplicationConfigurations takes over name, description and labels from Git.
func (s *Server) UpdateApplicationConfigurations(
	ctx context.Context, r *ps.UpdateApplicationConfigurationsRequest,
) (*ps.UpdateApplicationConfigurationsResponse, error) {
	return reply(&ps.UpdateApplicationConfigurationsResponse{},
		s.store.Applications.UpdateInfo(auth.Piped(ctx), r.GetApplications()))
}

// ReportUnregisteredApplicationConfigurations registers every application in the list that the environment selects: no
// one picks them from a list of suggestions here.
func (s *Server) ReportUnregisteredApplicationConfigurations(
	ctx context.Context, r *ps.ReportUnregisteredApplicationConfigurationsRequest,
) (*ps.ReportUnregisteredApplicationConfigurationsResponse, error) {
	names, err := s.store.Applications.Register(auth.Piped(ctx), s.selected(r.GetApplications()))
	if len(names) > 0 {
		s.log.Info("registered applications", "names", names)
	}
	return reply(&ps.ReportUnregisteredApplicationConfigurationsResponse{}, err)
}

// selected returns the applications that the environment selects.
func (s *Server) selected(found []*model.ApplicationInfo) []*model.ApplicationInfo {
	if s.selects == nil {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(a *model.ApplicationInfo) bool {
		return !s.selects(a.GetRepoId(), path.Join(a.GetPath(), a.GetConfigFilename()))
	})
}

// GetApplicationSharedObject answers NotFound when the plugin stored nothing under the key.
func (s *Server) GetApplicationSharedObject(
	ctx context.Context, r *ps.GetApplicationSharedObjectRequest,
) (*ps.GetApplicationSharedObjectResponse, error) {
	object, err := s.store.Objects.Get(auth.Piped(ctx), r.GetApplicationId(), r.GetPluginName(), r.GetKey())
	return reply(&ps.GetApplicationSharedObjectResponse{Object: object}, err)
}

// PutApplicationSharedObject stores bytes for a plugin.
func (s *Server) PutApplicationSharedObject(
	ctx context.Context, r *ps.PutApplicationSharedObjectRequest,
) (*ps.PutApplicationSharedObjectResponse, error) {
	return reply(&ps.PutApplicationSharedObjectResponse{},
		s.store.Objects.Put(auth.Piped(ctx), r.GetApplicationId(), r.GetPluginName(), r.GetKey(), r.GetObject()))
}

// GetLatestAnalysisResult answers NotFound when there is none (PipeCD v0).
func (s *Server) GetLatestAnalysisResult(
	ctx context.Context, r *ps.GetLatestAnalysisResultRequest,
) (*ps.GetLatestAnalysisResultResponse, error) {
	result, err := s.store.Objects.Analysis(auth.Piped(ctx), r.GetApplicationId())
	return reply(&ps.GetLatestAnalysisResultResponse{AnalysisResult: result}, err)
}

// PutLatestAnalysisResult stores the last analysis (PipeCD v0).
func (s *Server) PutLatestAnalysisResult(
	ctx context.Context, r *ps.PutLatestAnalysisResultRequest,
) (*ps.PutLatestAnalysisResultResponse, error) {
	return reply(&ps.PutLatestAnalysisResultResponse{},
		s.store.Objects.PutAnalysis(auth.Piped(ctx), r.GetApplicationId(), r.GetAnalysisResult()))
}
