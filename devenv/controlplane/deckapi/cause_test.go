// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestAFailedStageShowsWhatTheEnvironmentLacks(t *testing.T) {
	t.Parallel()
	failed := func(text string) *model.PipelineStage {
		return &model.PipelineStage{Status: model.StageStatus_STAGE_FAILURE,
			Metadata: map[string]string{causeKey: text}}
	}
	lacks := causeOfStage(failed(`{"kind":"NO_CRD","place":"app/cert.yaml:2\nnext"}`))
	require.Equal(t, "NO_CRD", lacks.GetKind())
	require.Equal(t, "app/cert.yaml:2", lacks.GetPlace())
	for _, text := range []string{"", "NO_CRD", `{"kind":"OTHER"}`, `{"kind":"NO_CRD","place":"` +
		strings.Repeat("x", maxReport) + `"}`} {
		require.Nil(t, causeOfStage(failed(text)), text)
	}
	for _, kind := range []string{"NO_PLUGIN", "NO_CRD", "UNREACHABLE", "FOREIGN_KEY", "NO_PROGRAM"} {
		require.Equal(t, kind, causeOfStage(failed(`{"kind":"`+kind+`"}`)).GetKind())
	}
	again := failed(`{"kind":"NO_CRD"}`)
	again.Status = model.StageStatus_STAGE_SUCCESS
	require.Nil(t, causeOfStage(again), "a later attempt has succeeded")
}

func TestADeploymentWithoutAPlanShowsWhatTheEnvironmentLacks(t *testing.T) {
	t.Parallel()
	d := &model.Deployment{Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, MetadataV2: &model.DeploymentMetadata{
		Shared: &model.DeploymentMetadata_KeyValues{KeyValues: map[string]string{causeKey: `{"kind":"NO_PLUGIN"}`}}}}
	require.Equal(t, "NO_PLUGIN", causeOfDeployment(d).GetKind())
	d.Status = model.DeploymentStatus_DEPLOYMENT_SUCCESS
	require.Nil(t, causeOfDeployment(d))
}
