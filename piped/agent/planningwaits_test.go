// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/planner"
)

type savedMetadata struct {
	requests []*pipedservice.SaveDeploymentSharedMetadataRequest
}

func (s *savedMetadata) SaveDeploymentSharedMetadata(
	_ context.Context, r *pipedservice.SaveDeploymentSharedMetadataRequest, _ ...grpc.CallOption,
) (*pipedservice.SaveDeploymentSharedMetadataResponse, error) {
	s.requests = append(s.requests, r)
	return &pipedservice.SaveDeploymentSharedMetadataResponse{}, r.Validate()
}

func TestOnlyOurControlPlaneLearnsWhatAPlanWaitsFor(t *testing.T) {
	t.Parallel()
	saved, ours := &savedMetadata{}, false
	report := planningWaits(saved, func() bool { return ours }, slog.New(slog.DiscardHandler))
	report(t.Context(), "d", planner.Wait{Plugin: "greeter", Since: time.UnixMilli(7)})
	require.Empty(t, saved.requests)
	ours = true
	report(t.Context(), "d", planner.Wait{Plugin: "greeter", Since: time.UnixMilli(7)})
	report(t.Context(), "d", planner.Wait{})
	require.Len(t, saved.requests, 2)
	require.JSONEq(t, `{"plugin":"greeter","since":7}`, saved.requests[0].GetMetadata()[planningWaitKey])
	require.Empty(t, saved.requests[1].GetMetadata()[planningWaitKey])
}
