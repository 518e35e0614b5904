// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pipedapi

import (
	"context"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/devenv/controlplane/auth"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// ReportStageStatusChanged stores the status of a stage.
func (s *Server) ReportStageStatusChanged(
	ctx context.Context, r *ps.ReportStageStatusChangedRequest,
) (*ps.ReportStageStatusChangedResponse, error) {
	return reply(&ps.ReportStageStatusChangedResponse{},
		s.store.Deployments.ReportStageRun(auth.Piped(ctx), r, stageRun(ctx)))
}

// stageRunKey is the gRPC metadata in which our piped says what a stage is executed with.
const stageRunKey = "pipedeck-stage-run-bin"

// stageRun is what came with a report; nil for nothing, or for what cannot be read.
func stageRun(ctx context.Context) *agentv1.StageRun {
	values := metadata.ValueFromIncomingContext(ctx, stageRunKey)
	run := &agentv1.StageRun{}
	if len(values) != 1 || proto.Unmarshal([]byte(values[0]), run) != nil {
		return nil
	}
	return run
}

// SaveStageMetadata merges the notes of a stage.
func (s *Server) SaveStageMetadata(
	ctx context.Context, r *ps.SaveStageMetadataRequest,
) (*ps.SaveStageMetadataResponse, error) {
	return reply(&ps.SaveStageMetadataResponse{},
		s.store.Deployments.MergeStageMetadata(auth.Piped(ctx), r.GetDeploymentId(), r.GetStageId(), r.GetMetadata()))
}

// ReportStageLogs adds blocks to the log of a stage.
func (s *Server) ReportStageLogs(
	ctx context.Context, r *ps.ReportStageLogsRequest,
) (*ps.ReportStageLogsResponse, error) {
	return reply(&ps.ReportStageLogsResponse{}, s.store.Deployments.AppendLog(auth.Piped(ctx), store.LogReport{
		DeploymentID: r.GetDeploymentId(), StageID: r.GetStageId(), Attempt: r.GetRetriedCount(), Blocks: r.GetBlocks(),
		Run: stageRun(ctx),
	}))
}

// ReportStageLogsFromLastCheckpoint adds what was not reported yet, and may complete the log.
func (s *Server) ReportStageLogsFromLastCheckpoint(
	ctx context.Context, r *ps.ReportStageLogsFromLastCheckpointRequest,
) (*ps.ReportStageLogsFromLastCheckpointResponse, error) {
	return reply(&ps.ReportStageLogsFromLastCheckpointResponse{},
		s.store.Deployments.AppendLog(auth.Piped(ctx), store.LogReport{
			DeploymentID: r.GetDeploymentId(), StageID: r.GetStageId(), Attempt: r.GetRetriedCount(),
			Blocks:     r.GetBlocks(),
			Checkpoint: true, Completed: r.GetCompleted(),
		}))
}

// ListUnhandledCommands answers with the commands that wait for the caller.
func (s *Server) ListUnhandledCommands(
	ctx context.Context, _ *ps.ListUnhandledCommandsRequest,
) (*ps.ListUnhandledCommandsResponse, error) {
	return &ps.ListUnhandledCommandsResponse{Commands: s.store.Commands.Waiting(auth.Piped(ctx))}, nil
}

// ReportCommandHandled stores the answer to a command.
func (s *Server) ReportCommandHandled(
	ctx context.Context, r *ps.ReportCommandHandledRequest,
) (*ps.ReportCommandHandledResponse, error) {
	return reply(&ps.ReportCommandHandledResponse{},
		s.store.Commands.ReportHandled(auth.Piped(ctx), store.HandledCommand{
			ID: r.GetCommandId(), Status: r.GetStatus(), Metadata: r.GetMetadata(), HandledAt: r.GetHandledAt(),
			Output: r.GetOutput(),
		}))
}
