// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"context"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ShowCaption shows all who watch the caption of a story, unless actions are refused.
func (s *Server) ShowCaption(_ context.Context, r *deckv1.ShowCaptionRequest) (*deckv1.ShowCaptionResponse, error) {
	s.mu.Lock()
	refusal := s.refusal
	s.mu.Unlock()
	if refusal != nil {
		return nil, refusal
	}
	s.Publish(r.GetCaption())
	return &deckv1.ShowCaptionResponse{}, nil
}
