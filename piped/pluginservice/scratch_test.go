// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

func TestWhatAPluginReportsDuringARerunIsForgotten(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.upstream.objects["apppk"] = []byte("kept")
	var log []string
	d := &model.Deployment{Id: "d", ApplicationId: "app", Stages: []*model.PipelineStage{{Id: "s"}}}
	scratch, remove, err := s.registry.AddScratch(d, func(blocks []*model.LogBlock) {
		for _, block := range blocks {
			log = append(log, block.GetLog())
		}
	})
	require.NoError(t, err)
	_, _, err = s.registry.AddScratch(d, nil)
	require.ErrorContains(t, err, "deployment d is being planned or run")
	handed, err := s.registry.find("d")
	require.NoError(t, err)
	handed.hand("p", "s")

	_, err = s.PutStageMetadata(t.Context(),
		&pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "k", Value: "v"})
	require.NoError(t, err)
	read, err := s.GetStageMetadata(t.Context(),
		&pluginservice.GetStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "k"})
	require.NoError(t, err)
	require.Equal(t, "v", read.GetValue())
	_, err = s.PutDeploymentPluginMetadata(t.Context(),
		&pluginservice.PutDeploymentPluginMetadataRequest{DeploymentId: "d", PluginName: "p", Key: "k", Value: "v"})
	require.NoError(t, err)

	object := func() string {
		got, err := s.GetApplicationSharedObject(t.Context(),
			&pluginservice.GetApplicationSharedObjectRequest{ApplicationId: "app", PluginName: "p", Key: "k"})
		require.NoError(t, err)
		return string(got.GetObject())
	}
	require.Equal(t, "kept", object())
	put := func(size int) error {
		_, err := s.PutApplicationSharedObject(t.Context(), &pluginservice.PutApplicationSharedObjectRequest{
			ApplicationId: "app", PluginName: "p", Key: "k", Object: make([]byte, size)})
		return err
	}
	require.NoError(t, put(3))
	require.Equal(t, "\x00\x00\x00", object())
	require.Equal(t, codes.ResourceExhausted, status.Code(put(maxScratch+1)))

	blocks := []*model.LogBlock{
		{Index: 1_700_000_000, Log: "one", CreatedAt: 1}, {Index: 1_700_000_001, Log: "two", CreatedAt: 1},
	}
	_, err = s.ReportStageLogs(t.Context(),
		&pluginservice.ReportStageLogsRequest{DeploymentId: "d", StageId: "s", Blocks: blocks[:1]})
	require.NoError(t, err)
	_, err = s.ReportStageLogsFromLastCheckpoint(t.Context(), &pluginservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: "d", StageId: "s", Blocks: blocks, Completed: true})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, log, "each line once")
	require.Equal(t, 3, scratch.Forgotten())

	remove()
	late := []*model.LogBlock{{Index: 1_700_000_002, Log: "late", CreatedAt: 1}}
	_, err = s.ReportStageLogsFromLastCheckpoint(t.Context(), &pluginservice.ReportStageLogsFromLastCheckpointRequest{
		DeploymentId: "d", StageId: "s", Blocks: late, Completed: true})
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two"}, log)
	require.Equal(t, "kept", object())
	require.Empty(t, s.upstream.saved)
	require.Empty(t, s.upstream.logs)
}
