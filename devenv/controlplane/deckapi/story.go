// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/story"
)

// maxCaption bounds a caption with what it shows, in bytes: every watcher and every recording gets it.
const maxCaption = 4 << 10

// ShowCaption shows all who watch the caption of a story.
func (s *Server) ShowCaption(
	_ context.Context, r *deckv1.ShowCaptionRequest,
) (*deckv1.ShowCaptionResponse, error) {
	if size := proto.Size(r.GetCaption()); size > maxCaption {
		return nil, status.Errorf(codes.InvalidArgument, "the caption has %d bytes; %d are the most", size, maxCaption)
	}
	if pane := r.GetCaption().GetFocus().GetPane(); pane != "" && !slices.Contains(story.Panes(), pane) {
		return nil, status.Errorf(codes.InvalidArgument, "the caption shows the pane %q; there are: %s", pane,
			strings.Join(story.Panes(), ", "))
	}
	s.store.Environment.ShowCaption(cmp.Or(r.GetCaption(), &deckv1.Caption{}))
	return &deckv1.ShowCaptionResponse{}, nil
}
