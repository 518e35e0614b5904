// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestAStageWithoutOutputIsShownAsSilent(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.Deployments.Create(piped, newDeployment("d", "a")))
	require.NoError(t, s.Deployments.ReportPlanned(piped, &pipedservice.ReportDeploymentPlannedRequest{
		DeploymentId: "d", Stages: []*model.PipelineStage{
			{Id: "greet", Name: "GREET"}, {Id: "asks", Name: "WAIT_APPROVAL"}, {Id: "later", Name: "GREET"},
			{Id: "waits", Name: "WAIT", AvailableOperation: model.ManualOperation_MANUAL_OPERATION_SKIP},
		},
	}))
	require.NoError(t, s.Deployments.ReportStatus(piped, "d", model.DeploymentStatus_DEPLOYMENT_RUNNING, ""))
	for _, stage := range []string{"greet", "asks", "waits"} {
		report := stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0)
		require.NoError(t, s.Deployments.ReportStage(piped, report))
	}
	silent := func() map[string]time.Time {
		t.Helper()
		d, err := s.Deployments.Get("d")
		require.NoError(t, err)
		return d.Silent
	}
	began := c.now()
	c.advance(28 * time.Second)
	require.Equal(t, 2*time.Second, s.Deployments.CheckStages())
	require.Empty(t, silent())
	c.advance(2 * time.Second)
	s.Deployments.CheckStages()
	require.Equal(t, map[string]time.Time{"greet": began}, silent(),
		"others wait for a user or a time, or have not begun")
	c.advance(15 * time.Second)
	require.Equal(t, 5*time.Second, s.Deployments.CheckStages())
	require.Equal(t, began, silent()["greet"], "its age goes on")

	require.NoError(t, s.Deployments.AppendLog(piped, store.LogReport{
		DeploymentID: "d", StageID: "greet", Blocks: blocks(1, 1, "hello"),
	}))
	require.Empty(t, silent(), "it writes again")
	c.advance(31 * time.Second)
	s.Deployments.CheckStages()
	require.Len(t, silent(), 1)
	progress := map[string]string{"pipedeck/progress": "{}"}
	require.NoError(t, s.Deployments.MergeStageMetadata(piped, "d", "greet", progress))
	require.Empty(t, silent(), "it reports progress")
}

func TestTheBuildOfAStageComesWithALineOfItsLog(t *testing.T) {
	t.Parallel()
	s, c := newStore(store.Limits{})
	importApplication(s, "a", nil)
	stage := run(t, s, "d", "a")
	named := func(attempt int32, hash string) {
		t.Helper()
		require.NoError(t, s.Deployments.AppendLog(piped, store.LogReport{
			DeploymentID: "d", StageID: stage, Attempt: attempt, Blocks: blocks(1, 1, "Stage WAIT by plugin wait"),
			Run: &agentv1.StageRun{Plugin: "wait", Build: &agentv1.PluginBuild{
				Hash: hash, BuiltAt: timestamppb.New(c.now()), Version: "v1",
			}},
		}))
	}
	named(0, "early") // before the stage runs: of no attempt
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 0)))
	named(0, "first")
	require.NoError(t, s.Deployments.ReportStage(piped, stageReport("d", stage, model.StageStatus_STAGE_RUNNING, 1)))
	named(0, "late") // of the attempt before
	named(1, "second")
	d, err := s.Deployments.Get("d")
	require.NoError(t, err)
	attempts := d.Runs[stage].GetAttempts()
	require.Equal(t, "wait", d.Runs[stage].GetPlugin())
	require.Equal(t, "first", attempts[0].GetBuild().GetHash())
	require.Equal(t, "second", attempts[1].GetBuild().GetHash())
	require.Equal(t, "v1", attempts[1].GetBuild().GetVersion())
}
