// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// ReportStageLogs forwards new log blocks of a stage.
func (s *Server) ReportStageLogs(
	ctx context.Context, request *pluginservice.ReportStageLogsRequest,
) (*pluginservice.ReportStageLogsResponse, error) {
	s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), false)
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	err := s.journaled(ctx, request, false, func(ctx context.Context) error {
		if scratch := s.options.Registry.scratchOf(request.GetDeploymentId()); scratch != nil {
			scratch.Report(request.GetBlocks())
			return nil
		}
		_, err := s.options.ControlPlane.ReportStageLogs(ctx, &pipedservice.ReportStageLogsRequest{
			DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt,
			Blocks: request.GetBlocks(),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &pluginservice.ReportStageLogsResponse{}, nil
}

// ReportStageLogsFromLastCheckpoint forwards all blocks since the last checkpoint. The client of the
// control plane splits what is above its limit.
func (s *Server) ReportStageLogsFromLastCheckpoint(
	ctx context.Context, request *pluginservice.ReportStageLogsFromLastCheckpointRequest,
) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), false)
	defer s.options.Registry.noteLog(request.GetDeploymentId(), request.GetStageId(), request.GetCompleted())
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	err := s.journaled(ctx, request, request.GetCompleted(), func(ctx context.Context) error {
		if scratch := s.options.Registry.scratchOf(request.GetDeploymentId()); scratch != nil {
			scratch.Report(request.GetBlocks())
			return nil
		}
		_, err := s.options.ControlPlane.ReportStageLogsFromLastCheckpoint(
			ctx,
			&pipedservice.ReportStageLogsFromLastCheckpointRequest{
				DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt,
				Blocks:    request.GetBlocks(),
				Completed: request.GetCompleted(),
			},
		)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, nil
}

// logReport is a request that holds log blocks.
type logReport interface {
	GetDeploymentId() string
	GetStageId() string
	GetRetriedCount() int32
	GetBlocks() []*model.LogBlock
}

// sequenceKey is the metadata of a report by a plugin with a journal: the number of the last entry in it.
const sequenceKey = "pipedeck-log-sequence"

// journaled makes a report, and notes it when the caller has a journal.
func (s *Server) journaled(
	ctx context.Context, request logReport, completed bool, call func(context.Context) error,
) error {
	j := callerOf(ctx).journal
	sequence := metadata.ValueFromIncomingContext(ctx, sequenceKey)
	if j == nil || len(sequence) != 1 {
		return call(ctx)
	}
	through, err := strconv.ParseInt(sequence[0], 10, 64)
	if err != nil {
		return status.Errorf(
			codes.InvalidArgument, "invalid request: %s is %q, want a number", sequenceKey, sequence[0],
		)
	}
	_, checkpoint := request.(*pluginservice.ReportStageLogsFromLastCheckpointRequest)
	return j.report(ctx, blockReport{
		key:     stageKey{request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount()},
		through: through, blocks: request.GetBlocks(), checkpoint: checkpoint, completed: completed, send: call,
	})
}

// temporary is whether a plugin sends the same again.
func temporary(err error) bool {
	switch status.Code(err) {
	case codes.OK,
		codes.InvalidArgument,
		codes.ResourceExhausted,
		codes.PermissionDenied,
		codes.Unimplemented,
		codes.OutOfRange:
		return false
	}
	return true
}

// attempt fills in what PipeCD's SDK never sets, so that a second attempt gets a separate log.
func (s *Server) attempt(deploymentID, stageID string, reported int32) int32 {
	if reported > 0 {
		return reported
	}
	return s.options.Registry.attempt(deploymentID, stageID)
}
