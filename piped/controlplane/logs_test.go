// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
)

func manyBlocks(count, size int) []*model.LogBlock {
	blocks := make([]*model.LogBlock, count)
	for i := range blocks {
		blocks[i] = &model.LogBlock{Index: int64(i + 1), Log: strings.Repeat("x", size), CreatedAt: 1}
	}
	return blocks
}

func TestLargeLogsArriveWholeAndInOrder(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	client := server.client(t, &eagerClock{})
	blocks := manyBlocks(20_000, 500)
	_, err := client.ReportStageLogs(t.Context(),
		&pipedservice.ReportStageLogsRequest{DeploymentId: "d", StageId: "s", RetriedCount: 2, Blocks: blocks})
	require.NoError(t, err)
	var arrived []*model.LogBlock
	for _, call := range server.logs {
		require.Equal(t, "d", call.GetDeploymentId())
		require.Equal(t, "s", call.GetStageId())
		require.EqualValues(t, 2, call.GetRetriedCount())
		arrived = append(arrived, call.GetBlocks()...)
	}
	require.Greater(t, len(server.logs), 1)
	require.Len(t, arrived, len(blocks))
	for i, block := range arrived {
		require.Equal(t, blocks[i].GetIndex(), block.GetIndex())
	}
}

func TestOnlyTheLastCallCompletesALog(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	client := server.client(t, &eagerClock{})
	request := &pipedservice.ReportStageLogsFromLastCheckpointRequest{DeploymentId: "d", StageId: "s",
		Blocks: manyBlocks(10, 1<<20), Completed: true}
	_, err := client.ReportStageLogsFromLastCheckpoint(t.Context(), request)
	require.NoError(t, err)
	require.Len(t, request.GetBlocks(), 10, "the request is the caller's")
	total := 0
	for i, call := range server.checkpoints {
		total += len(call.GetBlocks())
		require.Equal(t, i == len(server.checkpoints)-1, call.GetCompleted())
	}
	require.Equal(t, 10, total)

	_, err = client.ReportStageLogsFromLastCheckpoint(t.Context(),
		&pipedservice.ReportStageLogsFromLastCheckpointRequest{DeploymentId: "d", StageId: "s", Completed: true})
	require.NoError(t, err, "a log without blocks can be completed")
	require.True(t, server.checkpoints[len(server.checkpoints)-1].GetCompleted())
}

func TestABlockThatNoCallCouldCarryIsShortenedVisibly(t *testing.T) {
	t.Parallel()
	server := newFakeServer()
	client := server.client(t, &eagerClock{})
	long := &model.LogBlock{Index: 1, Log: strings.Repeat("ä", 4<<20), CreatedAt: 1}
	_, err := client.ReportStageLogs(t.Context(),
		&pipedservice.ReportStageLogsRequest{DeploymentId: "d", StageId: "s", Blocks: []*model.LogBlock{long}})
	require.NoError(t, err)
	require.Contains(t, server.logs[0].GetBlocks()[0].GetLog(), "bytes left out")
	require.Len(t, long.GetLog(), 8<<20, "the block is the caller's")
}
