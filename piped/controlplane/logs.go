// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

// maxBlockBytes bounds the log blocks of one call. PipeCD's control plane takes calls of up to 4 MiB and
// refuses larger ones for ever.
const maxBlockBytes = 3 << 20

// splitting sends log reports of any size, in several calls when they are large. The request passed in is
// not changed.
type splitting struct {
	pipedservice.PipedServiceClient
}

// ReportStageLogs sends the blocks in order; an error means that some of them may have arrived.
func (s *splitting) ReportStageLogs(ctx context.Context, r *pipedservice.ReportStageLogsRequest, opts ...grpc.CallOption) (*pipedservice.ReportStageLogsResponse, error) {
	portions := split(r.GetBlocks(), maxBlockBytes)
	for _, blocks := range portions[:len(portions)-1] {
		part := &pipedservice.ReportStageLogsRequest{DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(), Blocks: blocks}
		if _, err := s.PipedServiceClient.ReportStageLogs(ctx, part, opts...); err != nil {
			return nil, err
		}
	}
	last := &pipedservice.ReportStageLogsRequest{
		DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(), Blocks: portions[len(portions)-1],
	}
	return s.PipedServiceClient.ReportStageLogs(ctx, last, opts...)
}

// ReportStageLogsFromLastCheckpoint sends the blocks in order; the last call carries the mark that the log
// is complete.
func (s *splitting) ReportStageLogsFromLastCheckpoint(ctx context.Context, r *pipedservice.ReportStageLogsFromLastCheckpointRequest, opts ...grpc.CallOption) (*pipedservice.ReportStageLogsFromLastCheckpointResponse, error) {
	portions := split(r.GetBlocks(), maxBlockBytes)
	for _, blocks := range portions[:len(portions)-1] {
		part := &pipedservice.ReportStageLogsFromLastCheckpointRequest{
			DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(), Blocks: blocks,
		}
		if _, err := s.PipedServiceClient.ReportStageLogsFromLastCheckpoint(ctx, part, opts...); err != nil {
			return nil, err
		}
	}
	last := &pipedservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(),
		Blocks: portions[len(portions)-1], Completed: r.GetCompleted(),
	}
	return s.PipedServiceClient.ReportStageLogsFromLastCheckpoint(ctx, last, opts...)
}

// split returns the blocks in runs of at most limit bytes, at least one run. A block above the limit is
// shortened: no call could carry it.
func split(blocks []*model.LogBlock, limit int) [][]*model.LogBlock {
	const framing = 8 // a block's tag and length in the request
	var runs [][]*model.LogBlock
	var run []*model.LogBlock
	size := 0
	for _, block := range blocks {
		n := proto.Size(block) + framing
		if n > limit {
			block = shorten(block, limit)
			n = proto.Size(block) + framing
		}
		if size+n > limit && len(run) > 0 {
			runs = append(runs, run)
			run, size = nil, 0
		}
		run = append(run, block)
		size += n
	}
	return append(runs, run)
}

func shorten(block *model.LogBlock, limit int) *model.LogBlock {
	const room = 256 // for the other fields and the note
	text := strings.ToValidUTF8(block.GetLog()[:limit-room], "")
	short := proto.CloneOf(block)
	short.Log = fmt.Sprintf("%s… (%d bytes left out)", text, len(block.GetLog())-len(text))
	return short
}
