// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// ReportStageLogs forwards new log blocks of a stage.
func (s *Server) ReportStageLogs(ctx context.Context, request *pluginservice.ReportStageLogsRequest) (*pluginservice.ReportStageLogsResponse, error) {
	s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), false)
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	_, err := s.options.ControlPlane.ReportStageLogs(ctx, &pipedservice.ReportStageLogsRequest{
		DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt, Blocks: request.GetBlocks(),
	})
	if err != nil {
		return nil, err
	}
	return &pluginservice.ReportStageLogsResponse{}, nil
}

// ReportStageLogsFromLastCheckpoint forwards all blocks since the last checkpoint. The client of the
// control plane splits what is above its limit.
func (s *Server) ReportStageLogsFromLastCheckpoint(ctx context.Context, request *pluginservice.ReportStageLogsFromLastCheckpointRequest) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), false)
	defer s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), request.GetCompleted())
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	_, err := s.options.ControlPlane.ReportStageLogsFromLastCheckpoint(ctx, &pipedservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt, Blocks: request.GetBlocks(),
		Completed: request.GetCompleted(),
	})
	if err != nil {
		return nil, err
	}
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

// attempt fills in what PipeCD's SDK never sets, so that a second attempt gets a log of its own.
func (s *Server) attempt(deploymentID, stageID string, reported int32) int32 {
	if reported > 0 {
		return reported
	}
	return s.options.Registry.attempt(deploymentID, stageID)
}
