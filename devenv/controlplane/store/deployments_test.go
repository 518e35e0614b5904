// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func stageReport(
	deployment, stage string, status model.StageStatus, attempt int32,
) *pipedservice.ReportStageStatusChangedRequest {
	return &pipedservice.ReportStageStatusChangedRequest{
		DeploymentId: deployment, StageId: stage, Status: status, RetriedCount: attempt, CompletedAt: 5,
	}
}

func TestStageTimesAreThoseOfTheReports(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	c.advance(1500 * time.Microsecond)
	started := c.now()
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0)))
	d, err := s.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, store.StageTimes{Started: started}, d.Stages[stage])
	require.EqualValues(t, 5, d.Model.GetStages()[0].GetCompletedAt(),
		"kept for piped, which reads its first start there")
	c.advance(time.Second)
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_FAILURE, 0)))
	d, err = s.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, store.StageTimes{Started: started, Completed: c.now()}, d.Stages[stage])
	c.advance(time.Second)
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 1)))
	d, err = s.Deployments.Get("d")
	require.NoError(t, err)
	require.Equal(t, store.StageTimes{Started: c.now()}, d.Stages[stage], "a new attempt has its own times")
}

func TestStatusesDoNotGoBack(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	run(t, s, "d", "a")
	require.NoError(t, s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_RUNNING, "again"),
		"a resumed deployment is reported once more")
	requireCode(t, codes.FailedPrecondition,
		s.Deployments.ReportPlanned(piped, &pipedservice.ReportDeploymentPlannedRequest{DeploymentId: "d"}))
	require.NoError(t, s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, ""))
	requireCode(t, codes.FailedPrecondition,
		s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_RUNNING, ""))
	requireCode(t, codes.InvalidArgument,
		s.Deployments.ReportStage(piped, stageReport("d", "nope", model.StageStatus_STAGE_RUNNING, 0)))
	requireCode(t, codes.AlreadyExists, s.Deployments.Create(piped, newDeployment("d", "a")))
	requireCode(t, codes.NotFound, s.Deployments.Create(piped, newDeployment("e", "nope")))
}

func TestOldDeploymentsAreForgotten(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{DeploymentsPerApplication: 3, Deployments: 4, OpenDeployments: 2})
	importApplication(s, "a", nil)
	importApplication(s, "b", nil)
	for _, app := range []string{"a", "b"} {
		for i := range 5 {
			id := fmt.Sprintf("%s%d", app, i)
			run(t, s, id, app)
			finish(t, s, id, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
		}
	}
	var kept []string
	for _, d := range allDeployments(s) {
		kept = append(kept, d.GetId())
	}
	require.ElementsMatch(t, []string{"a4", "b2", "b3", "b4"}, kept)
	run(t, s, "x", "a")
	run(t, s, "y", "a")
	requireCode(t, codes.ResourceExhausted, s.Deployments.Create(piped, newDeployment("z", "a")))
}

func TestMetadataIsMerged(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	require.NoError(t, s.Deployments.MergeSharedMetadata(piped, "d", map[string]string{"k": "1", "l": "1"}))
	require.NoError(t, s.Deployments.MergeSharedMetadata(piped, "d", map[string]string{"k": "2"}))
	require.NoError(t, s.Deployments.MergePluginMetadata(piped, "d", "wait", map[string]string{"p": "1"}))
	require.NoError(t, s.Deployments.MergeStageMetadata(piped, "d", stage, map[string]string{"s": "1"}))
	require.NoError(t, s.Deployments.MergeMetadata(piped, "d", map[string]string{"v0": "1"}))
	d, err := s.Deployments.OfPiped(piped, "d")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "2", "l": "1"}, d.GetMetadataV2().GetShared().GetKeyValues())
	require.Equal(t, map[string]string{"p": "1"}, d.GetMetadataV2().GetPlugins()["wait"].GetKeyValues())
	require.Equal(t, map[string]string{"s": "1"}, d.GetStages()[0].GetMetadata())
	require.Equal(t, map[string]string{"v0": "1"}, d.GetMetadata())
}

func TestStagesOfAnOlderPipedGetTheirOperations(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.Deployments.Create(piped, newDeployment("d", "a")))
	require.NoError(t, s.Deployments.ReportPlanned(piped,
		&pipedservice.ReportDeploymentPlannedRequest{DeploymentId: "d", Stages: []*model.PipelineStage{
			{Id: "1", Name: "ANALYSIS"}, {Id: "2", Name: "WAIT_APPROVAL",
				Metadata: map[string]string{"Approvers": "alice, bob"}},
		}}))
	d, err := s.Deployments.OfPiped(piped, "d")
	require.NoError(t, err)
	require.Equal(t, model.ManualOperation_MANUAL_OPERATION_SKIP, d.GetStages()[0].GetAvailableOperation())
	require.Equal(t, model.ManualOperation_MANUAL_OPERATION_APPROVE, d.GetStages()[1].GetAvailableOperation())
	require.Equal(t, []string{"alice", "bob"}, d.GetStages()[1].GetAuthorizedOperators())
}
