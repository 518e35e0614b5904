// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// runStage brings a deployment "d" with the one stage to the point where the stage runs.
func (p *plane) runStage(t *testing.T, stage *model.PipelineStage) {
	t.Helper()
	ctx := testContext(t)
	p.importApplication("a", "a")
	stage.Id, stage.CreatedAt, stage.UpdatedAt = "s", 1, 1
	_, err := p.piped.CreateDeployment(ctx, &pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{
		Id: "d", ApplicationId: "a", ApplicationName: "a", PipedId: pipedID, ProjectId: project,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "a"},
		Trigger: &model.DeploymentTrigger{Timestamp: 1,
			Commit: &model.Commit{Hash: "h", Message: "m", Author: "a", Branch: "b", CreatedAt: 1}},
	}})
	require.NoError(t, err)
	_, err = p.piped.ReportDeploymentPlanned(ctx,
		&pipedservice.ReportDeploymentPlannedRequest{DeploymentId: "d", Stages: []*model.PipelineStage{stage}})
	require.NoError(t, err)
	_, err = p.piped.ReportStageStatusChanged(ctx, &pipedservice.ReportStageStatusChangedRequest{
		DeploymentId: "d", StageId: "s", Status: model.StageStatus_STAGE_RUNNING, CompletedAt: 1,
	})
	require.NoError(t, err)
}

func (p *plane) waiting(t *testing.T) []*model.Command {
	t.Helper()
	r, err := p.piped.ListUnhandledCommands(testContext(t), &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	return r.GetCommands()
}

func TestAStageThatAllowsItCanBeSkipped(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "X", AvailableOperation: model.ManualOperation_MANUAL_OPERATION_SKIP})
	v := p.watch(t, false)
	require.True(t, v.stage("d", "s").GetCanSkip())
	_, err := p.deck.ApproveStage(testContext(t), &deckv1.ApproveStageRequest{DeploymentId: "d", StageId: "s"})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.deck.SkipStage(testContext(t), &deckv1.SkipStageRequest{DeploymentId: "d", StageId: "s"})
	require.NoError(t, err)
	require.Equal(t, "s", p.waiting(t)[0].GetSkipStage().GetStageId())
	require.Equal(t, "pipedeck", p.waiting(t)[0].GetCommander())
	_, err = p.deck.SkipStage(testContext(t), &deckv1.SkipStageRequest{DeploymentId: "d", StageId: "nope"})
	requireCode(t, codes.NotFound, err)
}

func TestAStageWithApproversTakesThemOnly(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{
		Name: "WAIT_APPROVAL", AvailableOperation: model.ManualOperation_MANUAL_OPERATION_APPROVE,
		AuthorizedOperators: []string{"alice", "bob"},
	})
	approve := func(commander string) error {
		_, err := p.deck.ApproveStage(testContext(t),
			&deckv1.ApproveStageRequest{DeploymentId: "d", StageId: "s", Commander: commander})
		return err
	}
	err := approve("mallory")
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "alice, bob")
	require.NoError(t, approve(""))
	require.NoError(t, approve(""))
	var names []string
	for _, c := range p.waiting(t) {
		names = append(names, c.GetCommander())
	}
	require.Equal(t, []string{"alice", "bob"}, names, "who gives no name acts as the next of them")
}

func TestSyncingNeedsAnEnabledApplicationAndAKnownStrategy(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication("a", "a")
	ctx := testContext(t)
	_, err := p.deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: "a", Strategy: "nonsense"})
	requireCode(t, codes.InvalidArgument, err)
	_, err = p.deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: "nope"})
	requireCode(t, codes.NotFound, err)
	require.ErrorContains(t, err, "pipedeck apps")
	_, err = p.api.DisableApplication(ctx, &apiservice.DisableApplicationRequest{ApplicationId: "a"})
	require.NoError(t, err)
	_, err = p.deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: "a"})
	requireCode(t, codes.FailedPrecondition, err)
	_, err = p.api.EnableApplication(ctx, &apiservice.EnableApplicationRequest{ApplicationId: "a"})
	require.NoError(t, err)
	r, err := p.deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: "a"})
	require.NoError(t, err)
	require.NotEmpty(t, r.GetCommandId())
	require.Contains(t, r.GetUnanswered(), "piped is not connected")
}

func TestSyncingIsAnsweredByPiped(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication("a", "web")
	p.importApplication("gone", "gone")
	p.answer(t, func(c *model.Command) *pipedservice.ReportCommandHandledRequest {
		if c.GetApplicationId() == "gone" {
			return &pipedservice.ReportCommandHandledRequest{
				Status: model.CommandStatus_COMMAND_FAILED, Metadata: map[string]string{"Reason": "it left Git"},
			}
		}
		return &pipedservice.ReportCommandHandledRequest{
			Status:   model.CommandStatus_COMMAND_SUCCEEDED,
			Metadata: map[string]string{"TriggeredDeploymentID": "new"},
		}
	})
	r, err := p.deck.SyncApplication(testContext(t), &deckv1.SyncApplicationRequest{ApplicationId: "a"})
	require.NoError(t, err)
	require.Equal(t, "new", r.GetDeploymentId())
	require.Empty(t, r.GetUnanswered())
	_, err = p.deck.SyncApplication(testContext(t), &deckv1.SyncApplicationRequest{ApplicationId: "gone"})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "piped refuses to deploy gone: it left Git; ")
	require.ErrorContains(t, err, "run: pipedeck sync gone")
}

func TestAUserWhoCancelsDecidesAboutTheRollback(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "X"})
	cancel := func(rollback deckv1.CancelDeploymentRequest_Rollback) string {
		r, err := p.deck.CancelDeployment(testContext(t),
			&deckv1.CancelDeploymentRequest{DeploymentId: "d", Rollback: rollback})
		require.NoError(t, err)
		return r.GetCommandId()
	}
	first := cancel(deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED)
	require.Equal(t, first, cancel(deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED), "asked twice for the same")
	none := cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE)
	require.NotEqual(t, first, none)
	forced := cancel(deckv1.CancelDeploymentRequest_ROLLBACK_FORCED)
	how := map[string]*model.Command_CancelDeployment{}
	for _, c := range p.waiting(t) {
		how[c.GetId()] = c.GetCancelDeployment()
	}
	require.Len(t, how, 3)
	require.False(t, how[first].GetForceRollback() || how[first].GetForceNoRollback())
	require.True(t, how[none].GetForceNoRollback())
	require.True(t, how[forced].GetForceRollback())

	_, err := p.piped.ReportDeploymentStatusChanged(testContext(t), &pipedservice.ReportDeploymentStatusChangedRequest{
		DeploymentId: "d", Status: model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK,
	})
	require.NoError(t, err)
	for _, rollback := range []deckv1.CancelDeploymentRequest_Rollback{
		deckv1.CancelDeploymentRequest_ROLLBACK_UNSPECIFIED, deckv1.CancelDeploymentRequest_ROLLBACK_FORCED,
	} {
		_, err = p.deck.CancelDeployment(testContext(t),
			&deckv1.CancelDeploymentRequest{DeploymentId: "d", Rollback: rollback})
		requireCode(t, codes.FailedPrecondition, err)
		require.ErrorContains(t, err, "pipedeck cancel d --no-rollback")
	}
	require.Equal(t, none, cancel(deckv1.CancelDeploymentRequest_ROLLBACK_NONE), "the rollback is stopped")
}

func TestARollbackThatOnlyUsersAskForIsShownOnceItRuns(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "UNDO", Rollback: true,
		Metadata: map[string]string{"pipedeck/rollback": "on-request"}})
	v := p.watch(t, false)
	require.NotNil(t, v.stage("d", "s"), "it runs")
	require.False(t, v.deployments["d"].GetRollbackOnRequest())
	_, err := p.piped.ReportStageStatusChanged(testContext(t), &pipedservice.ReportStageStatusChangedRequest{
		DeploymentId: "d", StageId: "s", Status: model.StageStatus_STAGE_NOT_STARTED_YET, CompletedAt: 1,
	})
	require.NoError(t, err)
	v = p.watch(t, false)
	require.Empty(t, v.deployments["d"].GetStages())
	require.True(t, v.deployments["d"].GetRollbackOnRequest())
}
