// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package publicapi

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	as "github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// AddApplication registers an application; one that is there already is updated and keeps its id.
func (s *Server) AddApplication(_ context.Context, r *as.AddApplicationRequest) (*as.AddApplicationResponse, error) {
	id, err := s.store.Applications.Add(&model.Application{
		Name: r.GetName(), PipedId: r.GetPipedId(), GitPath: r.GetGitPath(), Kind: r.GetKind(),
		PlatformProvider: r.GetPlatformProvider(), Description: r.GetDescription(), Labels: r.GetLabels(),
	})
	return reply(&as.AddApplicationResponse{ApplicationId: id}, err)
}

// SyncApplication asks piped for a deployment of the newest commit.
func (s *Server) SyncApplication(
	ctx context.Context, r *as.SyncApplicationRequest,
) (*as.SyncApplicationResponse, error) {
	a, err := s.store.Applications.Get(r.GetApplicationId())
	if err != nil {
		return nil, err
	}
	if a.GetDisabled() {
		return nil, status.Errorf(codes.FailedPrecondition, "application %s is disabled; enable it first", a.GetName())
	}
	id, err := s.store.Commands.Add(&model.Command{
		PipedId: a.GetPipedId(), ApplicationId: a.GetId(), Commander: auth.APIKeyID(ctx),
		Type:            model.Command_SYNC_APPLICATION,
		SyncApplication: &model.Command_SyncApplication{ApplicationId: a.GetId()},
	})
	return reply(&as.SyncApplicationResponse{CommandId: id}, err)
}

// GetApplication answers with an application.
func (s *Server) GetApplication(_ context.Context, r *as.GetApplicationRequest) (*as.GetApplicationResponse, error) {
	a, err := s.store.Applications.Get(r.GetApplicationId())
	return reply(&as.GetApplicationResponse{Application: a}, err)
}

// ListApplications answers with a page of applications, the one updated last in front.
func (s *Server) ListApplications(
	_ context.Context, r *as.ListApplicationsRequest,
) (*as.ListApplicationsResponse, error) {
	if _, ok := model.ApplicationKind_value[r.GetKind()]; r.GetKind() != "" && !ok {
		return nil, status.Errorf(codes.InvalidArgument, "Invalid application kind %q", r.GetKind())
	}
	match := func(a *model.Application) bool {
		return a.GetDisabled() == r.GetDisabled() &&
			(r.GetName() == "" || a.GetName() == r.GetName()) &&
			(r.GetKind() == "" || a.GetKind().String() == r.GetKind()) &&
			(r.GetPipedId() == "" || a.GetPipedId() == r.GetPipedId()) &&
			store.HasLabels(a.GetLabels(), r.GetLabels())
	}
	page, cursor, err := paginate(r.GetLimit(), r.GetCursor(),
		func(after store.Position, b store.Bounds) ([]*model.Application, bool) {
			return s.store.Applications.List(match, after, b)
		})
	return reply(&as.ListApplicationsResponse{Applications: page, Cursor: cursor}, err)
}

// UpdateApplication changes the piped, the platform provider and the place in Git.
func (s *Server) UpdateApplication(
	_ context.Context, r *as.UpdateApplicationRequest,
) (*as.UpdateApplicationResponse, error) {
	return reply(&as.UpdateApplicationResponse{ApplicationId: r.GetApplicationId()},
		s.store.Applications.Move(r.GetApplicationId(), r.GetPipedId(), r.GetPlatformProvider(), r.GetGitPath()))
}

// DeleteApplication removes an application.
func (s *Server) DeleteApplication(
	_ context.Context, r *as.DeleteApplicationRequest,
) (*as.DeleteApplicationResponse, error) {
	return reply(&as.DeleteApplicationResponse{ApplicationId: r.GetApplicationId()},
		s.store.DeleteApplication(r.GetApplicationId()))
}

// EnableApplication resumes deployments.
func (s *Server) EnableApplication(
	_ context.Context, r *as.EnableApplicationRequest,
) (*as.EnableApplicationResponse, error) {
	return reply(&as.EnableApplicationResponse{ApplicationId: r.GetApplicationId()},
		s.store.Applications.SetDisabled(r.GetApplicationId(), false))
}

// DisableApplication stops deployments.
func (s *Server) DisableApplication(
	_ context.Context, r *as.DisableApplicationRequest,
) (*as.DisableApplicationResponse, error) {
	return reply(&as.DisableApplicationResponse{ApplicationId: r.GetApplicationId()},
		s.store.Applications.SetDisabled(r.GetApplicationId(), true))
}

// RenameApplicationConfigFile changes the configuration file's name of all the applications.
func (s *Server) RenameApplicationConfigFile(
	_ context.Context, r *as.RenameApplicationConfigFileRequest,
) (*as.RenameApplicationConfigFileResponse, error) {
	return reply(&as.RenameApplicationConfigFileResponse{},
		s.store.Applications.RenameConfigFile(r.GetApplicationIds(), r.GetNewFilename()))
}

// UpdateApplicationDeployTargets replaces the deploy targets.
func (s *Server) UpdateApplicationDeployTargets(
	_ context.Context, r *as.UpdateApplicationDeployTargetsRequest,
) (*as.UpdateApplicationDeployTargetsResponse, error) {
	return reply(&as.UpdateApplicationDeployTargetsResponse{},
		s.store.Applications.SetDeployTargets(r.GetApplicationId(), r.GetDeployTargetsByPlugin()))
}
