// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// DeploymentLister is the part of the control plane that OpenDeployments needs.
type DeploymentLister interface {
	ListNotCompletedDeployments(context.Context, *pipedservice.ListNotCompletedDeploymentsRequest,
		...grpc.CallOption) (*pipedservice.ListNotCompletedDeploymentsResponse, error)
}

// OpenDeployments lists all deployments of this piped that have not ended, page by page.
//
// PipeCD's control plane (August 2026) answers everything at once, with a cursor that it refuses
// afterwards: what was listed before a refusal counts as everything. An error of another kind, such as
// a lost connection, comes back as it is, and then nothing is known.
func OpenDeployments(ctx context.Context, lister DeploymentLister) ([]*model.Deployment, error) {
	first := true
	open, err := collect((*model.Deployment).GetId, func(cursor string) ([]*model.Deployment, string, error) {
		answer, err := lister.ListNotCompletedDeployments(ctx,
			&pipedservice.ListNotCompletedDeploymentsRequest{Cursor: cursor})
		if err == nil {
			first = false
		}
		return answer.GetDeployments(), answer.GetCursor(), err
	})
	switch {
	case err != nil && !first && (Refused(err) || status.Code(err) == codes.Internal): // PipeCD v1: Internal
		return open, nil
	case err != nil:
		return nil, err
	}
	return open, nil
}
