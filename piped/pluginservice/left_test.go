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

func TestMetadataOfADeploymentIsKeptUntilItsPluginEndsOnlyWhenPipedHasLeftIt(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for id, why := range map[string]Stop{"left": StopPiped, "cancelled": StopCancelled} {
		remove := s.registry.Add(&model.Deployment{Id: id, Stages: []*model.PipelineStage{{Id: "s" + id}}})
		end := s.registry.BeginStage(id, "s"+id, 0)
		s.registry.NoteStop(id, "s"+id, why, "words")
		end()
		remove()
		_, err := s.PutStageMetadata(t.Context(), &pluginservice.PutStageMetadataRequest{
			DeploymentId: id, StageId: "s" + id, Key: "k", Value: "v",
		})
		read, readErr := s.GetStageMetadata(t.Context(), &pluginservice.GetStageMetadataRequest{
			DeploymentId: id, StageId: "s" + id, Key: "k",
		})
		if why == StopCancelled {
			require.Equal(t, codes.Unknown, status.Code(err))
			require.Equal(t, codes.Unknown, status.Code(readErr))
			continue
		}
		require.NoError(t, err)
		require.NoError(t, readErr)
		require.Equal(t, "v", read.GetValue())
	}
	require.Equal(t, map[string]map[string]string{"sleft": {"k": "v"}}, s.upstream.stages)
}
