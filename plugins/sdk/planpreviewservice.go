// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
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
	sendChanges(ctx, previews)
	return answer, nil
}

const (
	// wantsChangesKey is the metadata with which piped asks for changes as data, changesKey the one with which they go.
	wantsChangesKey = "pipedeck-wants-planned-changes"
	changesKey      = "pipedeck-planned-changes-bin"
	// maxChanges bounds them, in bytes.
	maxChanges = 256 << 10
)

// sendChanges sends the changes as data, by deploy target, to a piped that asks for them. Those that find no room are
// left out: the details have them.
func sendChanges(ctx context.Context, previews []PlanPreview) {
	if asked, _ := metadata.FromIncomingContext(ctx); len(asked.Get(wantsChangesKey)) == 0 {
		return
	}
	changes, size := map[string]json.RawMessage{}, 0
	for _, p := range previews {
		if len(p.Changes) == 0 || size+len(p.Changes) > maxChanges || !json.Valid(p.Changes) {
			continue
		}
		changes[p.Target] = p.Changes
		size += len(p.Changes)
	}
	if data, err := json.Marshal(changes); err == nil && len(changes) > 0 {
		// It fails without a stream, where no one would get them.
		_ = grpc.SetTrailer(ctx, metadata.Pairs(changesKey, string(data)))
	}
}
