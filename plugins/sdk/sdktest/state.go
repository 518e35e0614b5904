// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// The ids and the name of the application in every request.
const (
	PipedID         = "piped-1"
	ApplicationID   = standin.ApplicationID
	ApplicationName = "demo"
)

// Livestate asks what runs at every deploy target; deployed is the commit that was deployed last.
func (h *Harness) Livestate(ctx context.Context, deployed *Commit) (*sdk.Livestate, error) {
	resp, err := h.wire.Livestate.GetLivestate(ctx, h.livestate(deployed))
	if err != nil {
		return nil, err
	}
	return livestateOf(resp), nil
}

// Drift asks in which fields the live state differs from Git; newest is nil when deployed is the newest commit.
func (h *Harness) Drift(ctx context.Context, deployed, newest *Commit) ([]sdk.ResourceDrift, error) {
	resp, err := livestate.NewLivestateDriftServiceClient(h.wire.Conn).GetDrift(ctx,
		&livestate.GetDriftRequest{Livestate: h.livestate(deployed), NewestSource: newest.wire()})
	if err != nil {
		return nil, err
	}
	return driftsOf(resp.GetResources()), nil
}

// Preview asks what a change would do at every deploy target, also as data.
func (h *Harness) Preview(ctx context.Context, change Change) ([]sdk.PlanPreview, error) {
	var trailer metadata.MD
	ctx = metadata.AppendToOutgoingContext(ctx, "pipedeck-wants-planned-changes", "yes")
	resp, err := h.wire.PlanPreview.GetPlanPreview(ctx, &planpreview.GetPlanPreviewRequest{
		PipedId: PipedID, ApplicationId: ApplicationID, ApplicationName: ApplicationName, DeployTargets: h.targets,
		TargetDeploymentSource: change.Target.wire(), RunningDeploymentSource: change.Running.wire(),
	}, grpc.Trailer(&trailer))
	if err != nil {
		return nil, err
	}
	previews := previewsOf(resp.GetResults())
	for _, data := range trailer.Get("pipedeck-planned-changes-bin") {
		changes := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(data), &changes); err != nil {
			return nil, fmt.Errorf("read the planned changes: %w", err)
		}
		for i := range previews {
			previews[i].Changes = changes[previews[i].Target]
		}
	}
	return previews, nil
}

func (h *Harness) livestate(deployed *Commit) *livestate.GetLivestateRequest {
	return &livestate.GetLivestateRequest{PipedId: PipedID, ApplicationId: ApplicationID,
		ApplicationName: ApplicationName, DeployTargets: h.targets, DeploySource: deployed.wire()}
}
