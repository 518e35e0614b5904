// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
)

func TestAPutOfMetadataSendsOnlyItsOwnValues(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(
		&model.Deployment{Id: "d", Stages: []*model.PipelineStage{{Id: "s", Metadata: map[string]string{"old": "1"}}}},
	)()
	for i := range 3 {
		_, err := s.PutStageMetadata(
			t.Context(),
			&pluginservice.PutStageMetadataRequest{
				DeploymentId: "d", StageId: "s", Key: fmt.Sprint("k", i), Value: "v",
			},
		)
		require.NoError(t, err)
		_, err = s.PutDeploymentPluginMetadata(
			t.Context(),
			&pluginservice.PutDeploymentPluginMetadataRequest{
				DeploymentId: "d", PluginName: "p", Key: fmt.Sprint("p", i), Value: "v",
			},
		)
		require.NoError(t, err)
	}
	require.Equal(
		t, []map[string]string{{"k0": "v"}, {"p0": "v"}, {"k1": "v"}, {"p1": "v"}, {"k2": "v"}, {"p2": "v"}},
		s.upstream.saved,
	)
	_, stages := s.registry.Metadata("d")
	require.Equal(t, map[string]string{"old": "1", "k0": "v", "k1": "v", "k2": "v"}, stages["s"])
}

func TestMetadataIsBoundedAndThePluginLearnsTheBound(t *testing.T) {
	t.Parallel()
	s := serve(t)
	deployment := &model.Deployment{Id: "d"}
	for i := range 8 {
		deployment.Stages = append(deployment.Stages, &model.PipelineStage{Id: fmt.Sprint("s", i)})
	}
	defer s.registry.Add(deployment)()
	put := func(stage int, key string, size int) error {
		_, err := s.PutStageMetadata(t.Context(), &pluginservice.PutStageMetadataRequest{
			DeploymentId: "d", StageId: fmt.Sprint("s", stage), Key: key, Value: strings.Repeat("x", size),
		})
		return err
	}
	refused := func(err error, words ...string) {
		t.Helper()
		require.Equal(t, codes.ResourceExhausted, status.Code(err), "%v", err)
		for _, w := range words {
			require.ErrorContains(t, err, w)
		}
	}
	refused(put(0, "k", 3<<20), `"k" of stage s0 has 3145728 bytes`, "262144")
	for stage := range 4 {
		require.NoError(t, put(stage, "a", maxMetadataValue-100))
		require.NoError(t, put(stage, "b", maxMetadataValue-100))
		refused(put(stage, "c", 1000), fmt.Sprint("the metadata of stage s", stage), fmt.Sprint(maxMetadataGroup))
		require.NoError(t, put(stage, "a", maxMetadataValue), "a value may be replaced")
	}
	require.NoError(t, put(4, "a", 100))
	refused(put(5, "a", 2000), "all stages and plugins of the deployment", fmt.Sprint(maxMetadataDeployment))
	_, stages := s.registry.Metadata("d")
	require.Empty(t, stages["s5"])
	require.NoError(t, put(0, "a", 10))
	require.NoError(t, put(5, "a", 2000), "there is room again")
}

func TestMetadataBeyondTheBoundsMayShrink(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer s.registry.Add(
		&model.Deployment{
			Id:     "d",
			Stages: []*model.PipelineStage{{Id: "s", Metadata: map[string]string{"a": strings.Repeat("x", 3<<20)}}},
		},
	)()
	_, err := s.PutStageMetadata(
		t.Context(), &pluginservice.PutStageMetadataRequest{DeploymentId: "d", StageId: "s", Key: "a", Value: "short"},
	)
	require.NoError(t, err)
}
