// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// livestateService answers piped with what a plugin saw at its deploy targets.
type livestateService struct {
	livestate.UnimplementedLivestateServiceServer
	handlers *handlers
	name     string
	now      func() time.Time
}

func (s *livestateService) GetLivestate(ctx context.Context,
	req *livestate.GetLivestateRequest) (*livestate.GetLivestateResponse, error) {
	state, err := s.handlers.livestate(ctx, req)
	if err != nil {
		return nil, asStatus(err, "get the live state of application "+req.GetApplicationName())
	}
	return state.wire(s.name, s.now()), nil
}
