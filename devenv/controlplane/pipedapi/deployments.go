// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
)

// GetDeployment answers with a deployment of the caller.
func (s *Server) GetDeployment(ctx context.Context, r *ps.GetDeploymentRequest) (*ps.GetDeploymentResponse, error) {
	d, err := s.store.Deployments.OfPiped(auth.Piped(ctx), r.GetId())
	return reply(&ps.GetDeploymentResponse{Deployment: d}, err)
}

// openPosition is the number of the last deployment of a page. The cursor of PipeCD's control plane, "{}" in base64,
// means the first page here.
type openPosition struct {
	After int `json:"n"`
}

// ListNotCompletedDeployments answers with a page of them, the oldest first. Pages are as large as pipeds take: older
// ones of PipeCD's read the first page only, and get the rest as its deployments end.
func (s *Server) ListNotCompletedDeployments(
	ctx context.Context, r *ps.ListNotCompletedDeploymentsRequest,
) (*ps.ListNotCompletedDeploymentsResponse, error) {
	var at openPosition
	if err := decodeCursor(r.GetCursor(), &at); err != nil {
		return nil, err
	}
	open, next := s.store.Deployments.Open(auth.Piped(ctx), at.After, page)
	if next == 0 {
		return &ps.ListNotCompletedDeploymentsResponse{Deployments: open}, nil
	}
	cursor, err := encodeCursor(openPosition{next})
	return reply(&ps.ListNotCompletedDeploymentsResponse{Deployments: open, Cursor: cursor}, err)
}

// CreateDeployment stores a new deployment.
func (s *Server) CreateDeployment(
	ctx context.Context, r *ps.CreateDeploymentRequest,
) (*ps.CreateDeploymentResponse, error) {
	return reply(&ps.CreateDeploymentResponse{}, s.store.Deployments.Create(auth.Piped(ctx), r.GetDeployment()))
}

// ReportDeploymentPlanned stores the plan.
func (s *Server) ReportDeploymentPlanned(
	ctx context.Context, r *ps.ReportDeploymentPlannedRequest,
) (*ps.ReportDeploymentPlannedResponse, error) {
	return reply(&ps.ReportDeploymentPlannedResponse{}, s.store.Deployments.ReportPlanned(auth.Piped(ctx), r))
}

// ReportDeploymentStatusChanged stores RUNNING or ROLLING_BACK.
func (s *Server) ReportDeploymentStatusChanged(
	ctx context.Context, r *ps.ReportDeploymentStatusChangedRequest,
) (*ps.ReportDeploymentStatusChangedResponse, error) {
	return reply(&ps.ReportDeploymentStatusChangedResponse{},
		s.store.Deployments.ReportStatus(auth.Piped(ctx), r.GetDeploymentId(), r.GetStatus(), r.GetStatusReason()))
}

// ReportDeploymentCompleted ends a deployment.
func (s *Server) ReportDeploymentCompleted(
	ctx context.Context, r *ps.ReportDeploymentCompletedRequest,
) (*ps.ReportDeploymentCompletedResponse, error) {
	return reply(&ps.ReportDeploymentCompletedResponse{}, s.store.ReportCompleted(auth.Piped(ctx), r))
}

// SaveDeploymentMetadata merges the notes of PipeCD v0.
func (s *Server) SaveDeploymentMetadata(
	ctx context.Context, r *ps.SaveDeploymentMetadataRequest,
) (*ps.SaveDeploymentMetadataResponse, error) {
	return reply(&ps.SaveDeploymentMetadataResponse{},
		s.store.Deployments.MergeMetadata(auth.Piped(ctx), r.GetDeploymentId(), r.GetMetadata()))
}

// SaveDeploymentSharedMetadata merges the notes that every plugin can read.
func (s *Server) SaveDeploymentSharedMetadata(
	ctx context.Context, r *ps.SaveDeploymentSharedMetadataRequest,
) (*ps.SaveDeploymentSharedMetadataResponse, error) {
	return reply(&ps.SaveDeploymentSharedMetadataResponse{},
		s.store.Deployments.MergeSharedMetadata(auth.Piped(ctx), r.GetDeploymentId(), r.GetMetadata()))
}

// SaveDeploymentPluginMetadata merges the notes of one plugin.
func (s *Server) SaveDeploymentPluginMetadata(
	ctx context.Context, r *ps.SaveDeploymentPluginMetadataRequest,
) (*ps.SaveDeploymentPluginMetadataResponse, error) {
	return reply(&ps.SaveDeploymentPluginMetadataResponse{},
		s.store.Deployments.MergePluginMetadata(auth.Piped(ctx), r.GetDeploymentId(), r.GetPluginName(),
			r.GetMetadata()))
}

// CreateDeploymentChain stores a chain and its first deployment.
func (s *Server) CreateDeploymentChain(
	ctx context.Context, r *ps.CreateDeploymentChainRequest,
) (*ps.CreateDeploymentChainResponse, error) {
	return reply(&ps.CreateDeploymentChainResponse{}, s.store.Deployments.CreateChain(auth.Piped(ctx), r))
}

// InChainDeploymentPlannable says whether the turn of a chain's deployment has come.
func (s *Server) InChainDeploymentPlannable(
	ctx context.Context, r *ps.InChainDeploymentPlannableRequest,
) (*ps.InChainDeploymentPlannableResponse, error) {
	v, err := s.store.Deployments.InChainPlannable(auth.Piped(ctx), r.GetDeploymentId(), r.GetDeploymentChainId(),
		r.GetDeploymentChainBlockIndex())
	return reply(&ps.InChainDeploymentPlannableResponse{Plannable: v.Plannable, Cancel: v.Cancel,
		CancelReason: v.CancelReason}, err)
}
