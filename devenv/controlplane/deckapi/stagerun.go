// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"context"
	"maps"
	"slices"
	"strings"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// sealedKeys begins the keys of metadata that only pipeds can read.
const sealedKeys = "pipedeck/sealed/"

// GetStageRun returns what a stage was executed with, its attempts, notes and calls.
func (s *Server) GetStageRun(
	ctx context.Context, r *deckv1.GetStageRunRequest,
) (*deckv1.GetStageRunResponse, error) {
	d, err := s.store.Deployments.Get(r.GetDeploymentId())
	if err != nil {
		return nil, unknownDeployment(err, r.GetDeploymentId())
	}
	i := slices.IndexFunc(d.Model.GetStages(), func(p *model.PipelineStage) bool { return p.GetId() == r.GetStageId() })
	if i < 0 {
		return nil, unknownStage(r.GetDeploymentId(), r.GetStageId())
	}
	stage := d.Model.GetStages()[i]
	out := &deckv1.GetStageRunResponse{Metadata: maps.Clone(stage.GetMetadata())}
	maps.DeleteFunc(out.GetMetadata(), func(key, _ string) bool {
		return strings.HasPrefix(key, sealedKeys) || key == pauseKey
	})
	run := d.Runs[stage.GetId()]
	out.Config, out.Timeout, out.Plugin = run.GetConfig(), run.GetTimeout(), run.GetPlugin()
	out.Attempts, out.Approvals = run.GetAttempts(), run.GetApprovals()
	if !r.GetWithoutCalls() {
		out.Calls = s.stageCalls(ctx, r)
	}
	return out, nil
}
