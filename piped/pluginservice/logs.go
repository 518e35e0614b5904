// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

// maxForward bounds the blocks of one call to the control plane in bytes; PipeCD's accepts 4 MiB a call.
const maxForward = 3 << 20

// ReportStageLogs forwards new log blocks of a stage.
func (s *Server) ReportStageLogs(ctx context.Context, request *pluginservice.ReportStageLogsRequest) (*pluginservice.ReportStageLogsResponse, error) {
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	for _, blocks := range portions(request.GetBlocks(), maxForward) {
		_, err := s.options.ControlPlane.ReportStageLogs(ctx, &pipedservice.ReportStageLogsRequest{
			DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt, Blocks: blocks,
		})
		if err != nil {
			return nil, err
		}
	}
	return &pluginservice.ReportStageLogsResponse{}, nil
}

// ReportStageLogsFromLastCheckpoint forwards all blocks since the last checkpoint; the last portion
// carries the mark that the log is complete.
func (s *Server) ReportStageLogsFromLastCheckpoint(ctx context.Context, request *pluginservice.ReportStageLogsFromLastCheckpointRequest) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	attempt := s.attempt(request.GetDeploymentId(), request.GetStageId(), request.GetRetriedCount())
	all := portions(request.GetBlocks(), maxForward)
	if len(all) == 0 {
		all = [][]*model.LogBlock{nil} // the mark alone
	}
	for i, blocks := range all {
		_, err := s.options.ControlPlane.ReportStageLogsFromLastCheckpoint(ctx, &pipedservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: request.GetDeploymentId(), StageId: request.GetStageId(), RetriedCount: attempt, Blocks: blocks,
			Completed: request.GetCompleted() && i == len(all)-1,
		})
		if err != nil {
			return nil, err
		}
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

// portions splits blocks into runs of at most limit bytes. A single block above the limit is shortened.
func portions(blocks []*model.LogBlock, limit int) [][]*model.LogBlock {
	var all [][]*model.LogBlock
	begin, size := 0, 0
	for i, block := range blocks {
		n := proto.Size(block) + 8 // its tag and length in the request
		if n > limit {
			block = shorten(block, limit)
			blocks[i], n = block, limit
		}
		if size+n > limit && i > begin {
			all = append(all, blocks[begin:i])
			begin, size = i, 0
		}
		size += n
	}
	if begin < len(blocks) {
		all = append(all, blocks[begin:])
	}
	return all
}

func shorten(block *model.LogBlock, limit int) *model.LogBlock {
	const room = 256 // for the other fields and the note
	text := strings.ToValidUTF8(block.GetLog()[:limit-room], "")
	short := proto.CloneOf(block)
	short.Log = fmt.Sprintf("%s… (%d bytes left out)", text, len(block.GetLog())-len(text))
	return short
}
