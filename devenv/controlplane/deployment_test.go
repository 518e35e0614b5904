// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestARecordedDeploymentRunsToSuccess(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	v := p.watch(t, true)

	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)

	v.until(func() bool {
		a := v.applications[id("2")]
		return a.GetRunningCommit() != "" && !a.GetDeploying() && v.deployments[id("3")].GetCompletedAt() != nil
	})
	require.Equal(t, []string{
		"DEPLOYMENT_STATUS_PENDING", "DEPLOYMENT_STATUS_PLANNED", "DEPLOYMENT_STATUS_RUNNING",
		"DEPLOYMENT_STATUS_SUCCESS",
	}, v.history[id("3")])
	require.Equal(t, []string{"STAGE_STATUS_NOT_STARTED", "STAGE_STATUS_RUNNING", "STAGE_STATUS_SUCCESS"},
		v.history[id("4")])
	d := v.deployments[id("3")]
	require.Equal(t, "PIPELINE", d.GetStrategy())
	require.Equal(t, "first", d.GetCommit().GetMessage())
	second := v.stage(id("3"), id("5"))
	require.Equal(t, []string{id("4")}, second.GetRequires())
	require.False(t, second.GetCompletedAt().AsTime().Before(second.GetStartedAt().AsTime()))
	require.Contains(t, v.logs[id("5")], "hello\n")
	require.Equal(t, id("3"), v.applications[id("2")].GetLatestDeploymentId())

	stored, err := p.piped.GetDeployment(testContext(t), &pipedservice.GetDeploymentRequest{Id: id("3")})
	require.NoError(t, err)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, stored.GetDeployment().GetStatus())
	require.Equal(t, "1795230051", stored.GetDeployment().GetStages()[0].GetMetadata()["startTime"])
	require.Equal(t, "_", stored.GetDeployment().GetMetadataV2().GetPlugins()["scriptrun"].GetKeyValues()["started-1"])
	open, err := p.piped.ListNotCompletedDeployments(testContext(t), &pipedservice.ListNotCompletedDeploymentsRequest{})
	require.NoError(t, err)
	require.Empty(t, open.GetDeployments())
	require.Empty(t, open.GetCursor())
}

func TestARecordedFailureRollsBack(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("19"), "fl")
	v := p.watch(t, false)

	newReplayer(t).play(p.pipedConn, recording(t, "a3"), func(seq int) {
		if seq == 25 { // the rollback begins
			open, err := p.piped.ListNotCompletedDeployments(testContext(t),
				&pipedservice.ListNotCompletedDeploymentsRequest{Cursor: "e30="})
			require.NoError(t, err)
			require.Len(t, open.GetDeployments(), 1)
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, open.GetDeployments()[0].GetStatus())
			require.Empty(t, open.GetCursor())
		}
	})

	v.until(func() bool {
		return v.deployments[id("20")].GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
	})
	require.Equal(t, []string{
		"DEPLOYMENT_STATUS_PENDING", "DEPLOYMENT_STATUS_PLANNED", "DEPLOYMENT_STATUS_RUNNING",
		"DEPLOYMENT_STATUS_ROLLING_BACK", "DEPLOYMENT_STATUS_FAILURE",
	}, v.history[id("20")])
	require.Equal(t, deckv1.StageStatus_STAGE_STATUS_FAILURE, v.stage(id("20"), id("22")).GetStatus())
	rollback := v.stage(id("20"), id("24"))
	require.True(t, rollback.GetRollback())
	require.Equal(t, []string{id("22")}, rollback.GetRequires())
	require.Empty(t, v.applications[id("19")].GetRunningCommit())
}

func TestACompletedDeploymentStaysCompleted(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), nil)
	ctx := testContext(t)

	_, err := p.piped.ReportDeploymentStatusChanged(ctx, &pipedservice.ReportDeploymentStatusChangedRequest{
		DeploymentId: id("3"), Status: model.DeploymentStatus_DEPLOYMENT_RUNNING,
	})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.piped.ReportDeploymentPlanned(ctx, &pipedservice.ReportDeploymentPlannedRequest{DeploymentId: id("3")})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.piped.ReportDeploymentCompleted(ctx, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: id("3"), Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, CompletedAt: 1,
	})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.piped.ReportDeploymentCompleted(ctx, &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: id("3"), Status: model.DeploymentStatus_DEPLOYMENT_SUCCESS, CompletedAt: 1,
	})
	require.NoError(t, err, "a repeated report is no error")
}

func TestApprovalsReachPipedWithTheirCommanders(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("10"), "ap")
	v := p.watch(t, false)
	ctx := testContext(t)
	r := newReplayer(t)
	r.play(p.pipedConn, recording(t, "a2"), func(seq int) {
		switch seq {
		case 12: // before the stage runs
			_, err := p.deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{DeploymentId: id("11"), StageId: id("12")})
			requireCode(t, codes.FailedPrecondition, err)
		case 15:
			v.until(func() bool { return v.stage(id("11"), id("12")).GetCanApprove() })
			require.False(t, v.stage(id("11"), id("12")).GetCanSkip())
			require.Equal(t, []string{"alice", "bob", "carol"}, v.stage(id("11"), id("12")).GetApprovers())
			_, err := p.deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{DeploymentId: id("11"), StageId: id("12"),
				Commander: "mira"})
			requireCode(t, codes.FailedPrecondition, err)
			require.ErrorContains(t, err, "approve as one of: alice, bob, carol")
			r.ids[id("17")] = p.approve(t, "alice")
			require.Equal(t, r.ids[id("17")], p.approve(t, "alice"), "asking twice is asking once")
			r.ids[id("18")] = p.approve(t, "bob")
			_, err = p.deck.SkipStage(ctx, &deckv1.SkipStageRequest{DeploymentId: id("11"), StageId: id("12")})
			requireCode(t, codes.FailedPrecondition, err)
			waiting, err := p.piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
			require.NoError(t, err)
			require.Len(t, waiting.GetCommands(), 2)
			require.Equal(t, "alice", waiting.GetCommands()[0].GetCommander())
			require.Equal(t, id("12"), waiting.GetCommands()[0].GetApproveStage().GetStageId())
		}
	})
	v.until(func() bool {
		return v.deployments[id("11")].GetStatus() == deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	})
	require.Equal(t, "Approved by: alice, bob; mira approved as alice; mira approved as bob",
		v.stage(id("11"), id("12")).GetDisplay())
	require.Empty(t, v.stage(id("11"), id("12")).GetApprovers(), "it waits no more")
	require.False(t, v.stage(id("11"), id("12")).GetCanApprove())
	waiting, err := p.piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	require.Empty(t, waiting.GetCommands())
}

func (p *plane) approve(t *testing.T, commander string) string {
	t.Helper()
	r, err := p.deck.ApproveStage(testContext(t),
		&deckv1.ApproveStageRequest{DeploymentId: id("11"), StageId: id("12"), Commander: commander, User: "mira"})
	require.NoError(t, err)
	return r.GetCommandId()
}

func TestACancellationReachesPipedAndEndsTheDeployment(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("15"), "cn")
	ctx := testContext(t)
	r := newReplayer(t)
	var log <-chan []string
	r.play(p.pipedConn, recording(t, "a4"), func(seq int) {
		switch seq {
		case 23:
			log = p.stageLog(t, id("16"), id("26"))
		case 33: // the user cancels while the stage waits
			c, err := p.deck.CancelDeployment(ctx,
				&deckv1.CancelDeploymentRequest{DeploymentId: id("16"), Commander: "carol"})
			require.NoError(t, err)
			r.ids[id("14")] = c.GetCommandId()
		}
	})
	d, err := p.api.GetDeployment(ctx, &apiservice.GetDeploymentRequest{DeploymentId: id("16")})
	require.NoError(t, err)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, d.GetDeployment().GetStatus())
	require.Contains(t, d.GetDeployment().GetStatusReason(), "carol")
	command, err := p.api.GetCommand(ctx, &apiservice.GetCommandRequest{CommandId: r.ids[id("14")]})
	require.NoError(t, err)
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, command.GetCommand().GetStatus())
	_, err = p.deck.CancelDeployment(ctx, &deckv1.CancelDeploymentRequest{DeploymentId: id("16")})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.deck.CancelDeployment(ctx, &deckv1.CancelDeploymentRequest{DeploymentId: "nope"})
	requireCode(t, codes.NotFound, err)

	lines := <-log
	require.Len(t, lines, 6, "repeated blocks count once: %q", lines)
	require.Contains(t, lines[0], "Waiting for 10m0s")
	require.Equal(t, "Wait cancelled", lines[5])
}

// stageLog follows a stage log to its end and then gives its blocks.
func (p *plane) stageLog(t *testing.T, deployment, stage string) <-chan []string {
	t.Helper()
	stream, err := p.deck.WatchStageLog(testContext(t),
		&deckv1.WatchStageLogRequest{DeploymentId: deployment, StageId: stage})
	require.NoError(t, err)
	out := make(chan []string, 1)
	go func() {
		var lines []string
		for {
			r, err := stream.Recv()
			if err != nil {
				if err != io.EOF {
					lines = append(lines, "error: "+err.Error())
				}
				out <- lines
				return
			}
			for _, b := range r.GetBlocks() {
				lines = append(lines, b.GetText())
			}
		}
	}()
	return out
}
