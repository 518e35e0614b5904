// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// driftService answers piped with the fields in which live resources differ from Git.
type driftService struct {
	livestate.UnimplementedLivestateDriftServiceServer
	handlers *handlers
}

func (s *driftService) GetDrift(ctx context.Context,
	req *livestate.GetDriftRequest) (*livestate.GetDriftResponse, error) {
	drifts, err := s.handlers.drift(ctx, req)
	if err != nil {
		return nil, asStatus(err, "compare application "+req.GetLivestate().GetApplicationName()+" with Git")
	}
	return &livestate.GetDriftResponse{Resources: converted(drifts, ResourceDrift.wire)}, nil
}
