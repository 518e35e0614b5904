// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// answer connects as a piped that deploys earlier commits, and gives each command the answer that to returns.
func (p *plane) answer(t *testing.T, to func(*model.Command) *pipedservice.ReportCommandHandledRequest) {
	t.Helper()
	ctx := testContext(t)
	stream, err := p.agent.Watch(ctx, &agentv1.WatchRequest{DeploysCommits: true})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	go func() {
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
			list, err := p.piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
			if err != nil {
				return
			}
			for _, c := range list.GetCommands() {
				answer := to(c)
				answer.CommandId, answer.HandledAt = c.GetId(), 1
				_, _ = p.piped.ReportCommandHandled(ctx, answer)
			}
		}
	}()
}

// end ends the deployment "d" of runStage.
func (p *plane) end(t *testing.T, status model.DeploymentStatus) {
	t.Helper()
	_, err := p.piped.ReportDeploymentCompleted(testContext(t), &pipedservice.ReportDeploymentCompletedRequest{
		DeploymentId: "d", Status: status, CompletedAt: 2,
	})
	require.NoError(t, err)
}

func TestARetryIsAnsweredWithTheNewDeployment(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "X"})
	p.end(t, model.DeploymentStatus_DEPLOYMENT_FAILURE)
	p.answer(t, func(c *model.Command) *pipedservice.ReportCommandHandledRequest {
		return &pipedservice.ReportCommandHandledRequest{
			Status:   model.CommandStatus_COMMAND_SUCCEEDED,
			Metadata: map[string]string{"TriggeredDeploymentID": "again-" + c.GetMetadata()["pipedeck/commit"]},
		}
	})
	v := p.watch(t, false)
	v.until(func() bool { return v.pipeds[pipedID].GetDeploysCommits() })
	r, err := p.deck.RetryDeployment(testContext(t),
		&deckv1.RetryDeploymentRequest{DeploymentId: "d", Commander: "carol"})
	require.NoError(t, err)
	require.NotEmpty(t, r.GetCommandId())
	require.Equal(t, "again-h", r.GetDeploymentId())
	_, err = p.deck.RetryDeployment(testContext(t), &deckv1.RetryDeploymentRequest{DeploymentId: "nope"})
	requireCode(t, codes.NotFound, err)
	require.ErrorContains(t, err, "pipedeck deployments")
}

func TestARollbackThatPipedRefusesSaysWhy(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "X"})
	p.end(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	ctx := testContext(t)
	_, err := p.piped.CreateDeployment(ctx, &pipedservice.CreateDeploymentRequest{Deployment: &model.Deployment{
		Id: "d2", ApplicationId: "a", ApplicationName: "a", PipedId: pipedID, ProjectId: project,
		Status: model.DeploymentStatus_DEPLOYMENT_FAILURE, CompletedAt: 1,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "a"},
		Trigger: &model.DeploymentTrigger{Timestamp: 1, Commander: "carol",
			Commit: &model.Commit{Hash: "h2", Message: "m", Author: "a", Branch: "b", CreatedAt: 1}},
		MetadataV2: &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{
			KeyValues: map[string]string{"pipedeck/retry-of": "d1"},
		}},
	}})
	require.NoError(t, err)
	require.Equal(t, "d1", p.watch(t, false).deployments["d2"].GetRetryOf())
	back := func(strategy string) error {
		_, err := p.deck.RollBackApplication(ctx,
			&deckv1.RollBackApplicationRequest{DeploymentId: "d", Strategy: strategy})
		return err
	}
	requireCode(t, codes.FailedPrecondition, back(""))
	require.ErrorContains(t, back(""), "cannot deploy an earlier commit")
	p.answer(t, func(*model.Command) *pipedservice.ReportCommandHandledRequest {
		return &pipedservice.ReportCommandHandledRequest{
			Status: model.CommandStatus_COMMAND_FAILED, Metadata: map[string]string{"Reason": "commit h is gone"},
		}
	})
	requireCode(t, codes.InvalidArgument, back("nonsense"))
	requireCode(t, codes.FailedPrecondition, back("PIPELINE"))
	require.ErrorContains(t, back(""), "commit h is gone")
}

func TestACommitThatAUserNamesIsDeployedByAPipedThatCan(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.runStage(t, &model.PipelineStage{Name: "X"})
	p.end(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	ctx := testContext(t)
	application := p.watch(t, false).deployments["d"].GetApplicationId()
	sync := func(commit string) (*deckv1.SyncCommitResponse, error) {
		return p.deck.SyncCommit(ctx, &deckv1.SyncCommitRequest{
			ApplicationId: application, Commit: commit, Commander: "carol",
		})
	}
	_, err := sync("0123456")
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "cannot deploy an earlier commit")
	p.answer(t, func(c *model.Command) *pipedservice.ReportCommandHandledRequest {
		require.Equal(t, "carol", c.GetCommander())
		if c.GetMetadata()["pipedeck/commit"] == "0123456" {
			return &pipedservice.ReportCommandHandledRequest{
				Status:   model.CommandStatus_COMMAND_SUCCEEDED,
				Metadata: map[string]string{"TriggeredDeploymentID": "d2"},
			}
		}
		return &pipedservice.ReportCommandHandledRequest{
			Status: model.CommandStatus_COMMAND_FAILED, Metadata: map[string]string{"Reason": "it is elsewhere"},
		}
	})
	v := p.watch(t, false)
	v.until(func() bool { return v.pipeds[pipedID].GetDeploysCommits() })
	answer, err := sync("0123456")
	require.NoError(t, err)
	require.Equal(t, "d2", answer.GetDeploymentId())
	_, err = sync("fedcba9")
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "piped refuses to deploy a: it is elsewhere; list the commits with git log")
	_, err = sync("HEAD")
	requireCode(t, codes.InvalidArgument, err)
}
