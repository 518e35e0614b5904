// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

// planPreviewService answers piped with what a change would do.
type planPreviewService struct {
	planpreview.UnimplementedPlanPreviewServiceServer
	handlers *handlers
}

func (s *planPreviewService) GetPlanPreview(ctx context.Context,
	req *planpreview.GetPlanPreviewRequest) (*planpreview.GetPlanPreviewResponse, error) {
	previews, err := s.handlers.planPreview(ctx, req)
	if err != nil {
		return nil, asStatus(err, "preview the plan of application "+req.GetApplicationName())
	}
	answer := &planpreview.GetPlanPreviewResponse{}
	for _, p := range previews {
		if !slices.Contains(req.GetDeployTargets(), p.Target) {
			return nil, status.Errorf(codes.Internal, "the plugin made a plan preview for deploy target %q, which "+
				"it was not asked about: this is a mistake in the plugin", p.Target)
		}
		answer.Results = append(answer.Results, p.wire())
	}
	return answer, nil
}
