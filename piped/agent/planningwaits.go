// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/planner"
)

// planningWaitKey is the metadata of a deployment with the plugin that its planning waits for, as JSON; empty for none.
const planningWaitKey = "pipedeck/planning-wait"

// planningWaitTimeout bounds the report: the plan does not wait for it longer.
const planningWaitTimeout = 2 * time.Second

// metadataSaver is the part of the control plane that keeps notes of a deployment.
type metadataSaver interface {
	SaveDeploymentSharedMetadata(
		ctx context.Context, r *pipedservice.SaveDeploymentSharedMetadataRequest, opts ...grpc.CallOption,
	) (*pipedservice.SaveDeploymentSharedMetadataResponse, error)
}

// planningWaits reports to a control plane of ours which plugin a plan waits for. A report that is lost is not
// repeated: it is of no use later.
func planningWaits(
	client metadataSaver, heard func() bool, logger *slog.Logger,
) func(context.Context, string, planner.Wait) {
	return func(ctx context.Context, deployment string, wait planner.Wait) {
		if !heard() {
			return
		}
		value := ""
		if wait.Plugin != "" {
			data, err := json.Marshal(map[string]any{"plugin": wait.Plugin, "since": wait.Since.UnixMilli()})
			if err != nil {
				return // it holds a text and a number only
			}
			value = string(data)
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), planningWaitTimeout)
		defer cancel()
		_, err := client.SaveDeploymentSharedMetadata(ctx, &pipedservice.SaveDeploymentSharedMetadataRequest{
			DeploymentId: deployment, Metadata: map[string]string{planningWaitKey: value},
		})
		if err != nil {
			logger.Debug("what a plan waits for was not reported", "deployment", deployment, "error", err)
		}
	}
}
