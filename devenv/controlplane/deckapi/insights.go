// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/insights"
)

// GetInsights measures the deployments that the store keeps.
func (s *Server) GetInsights(context.Context, *deckv1.GetInsightsRequest) (*deckv1.GetInsightsResponse, error) {
	return insights.Measure(s.store.Deployments.Ended(), s.store.Now()), nil
}
