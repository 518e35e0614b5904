// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/clip"
)

// maxBlockBytes bounds the log blocks of one call. PipeCD's control plane takes calls of up to 4 MiB and
// refuses larger ones for ever.
const maxBlockBytes = 3 << 20

// splitLogs sends log reports of any size, in several calls when they are large: the blocks in order, and the mark that
// the log is complete with the last ones. An error means that some of the blocks may have arrived. The request passed
// in is not changed.
func splitLogs(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	opts ...grpc.CallOption) error {
	var blocks []*model.LogBlock
	var part func(blocks []*model.LogBlock, last bool) any
	switch r := request.(type) {
	case *pipedservice.ReportStageLogsRequest:
		blocks, part = r.GetBlocks(), func(blocks []*model.LogBlock, _ bool) any {
			return &pipedservice.ReportStageLogsRequest{
				DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(),
				Blocks: blocks,
			}
		}
	case *pipedservice.ReportStageLogsFromLastCheckpointRequest:
		blocks, part = r.GetBlocks(), func(blocks []*model.LogBlock, last bool) any {
			return &pipedservice.ReportStageLogsFromLastCheckpointRequest{
				DeploymentId: r.GetDeploymentId(), StageId: r.GetStageId(), RetriedCount: r.GetRetriedCount(),
				Blocks:    blocks,
				Completed: last && r.GetCompleted(),
			}
		}
	default:
		return invoke(ctx, method, request, reply, conn, opts...)
	}
	runs := split(blocks, maxBlockBytes)
	for i, run := range runs {
		if err := invoke(ctx, method, part(run, i == len(runs)-1), reply, conn, opts...); err != nil {
			return err
		}
	}
	return nil
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
	text := clip.Bytes(block.GetLog(), limit-room)
	short := proto.CloneOf(block)
	short.Log = fmt.Sprintf("%s… (%d bytes left out)", text, len(block.GetLog())-len(text))
	return short
}
