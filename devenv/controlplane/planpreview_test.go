// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

// watching starts a control plane whose piped watches the branch main of one repository.
func watching(t *testing.T, change ...func(*controlplane.Config)) *plane {
	t.Helper()
	p := start(t, change...)
	_, err := p.piped.ReportPipedMeta(testContext(t), &pipedservice.ReportPipedMetaRequest{
		Version: "v1", Config: "spec: {}\n", SecretEncryption: &model.Piped_SecretEncryption{Type: "NONE"},
		Repositories: []*model.ApplicationGitRepository{{Id: "apps", Remote: "file:///apps", Branch: "main"}},
	})
	require.NoError(t, err)
	return p
}

func (p *plane) waitingPreviews(t *testing.T) []*model.Command {
	t.Helper()
	answer, err := p.piped.ListUnhandledCommands(testContext(t), &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	return answer.GetCommands()
}

// awaitPreview returns the next plan preview command as a piped gets it: pushed.
func (p *plane) awaitPreview(t *testing.T) *model.Command {
	t.Helper()
	stream, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{})
	require.NoError(t, err)
	for {
		if commands := p.waitingPreviews(t); len(commands) > 0 {
			return commands[0]
		}
		_, err := stream.Recv()
		require.NoError(t, err)
	}
}

func TestAPlanPreviewIsAskedForAndSentToTheUser(t *testing.T) {
	t.Parallel()
	p := watching(t)
	previews := deckv1.NewPlanPreviewServiceClient(p.userConn)
	stream, err := previews.PlanPreview(testContext(t),
		&deckv1.PlanPreviewRequest{HeadCommit: "c0ffee", HeadBranch: "feature", Timeout: durationpb.New(time.Minute)})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	require.Equal(t, "main", first.GetProgress().GetBaseBranch())
	require.EqualValues(t, 1, first.GetProgress().GetAsked())

	command := p.awaitPreview(t)
	asked := command.GetBuildPlanPreview()
	require.Equal(t, []any{"apps", "feature", "c0ffee", "main", int64(60)},
		[]any{asked.GetRepositoryId(), asked.GetHeadBranch(), asked.GetHeadCommit(), asked.GetBaseBranch(),
			asked.GetTimeout()})
	output, err := json.Marshal(&model.PlanPreviewCommandResult{CommandId: "another", PipedId: "another",
		Results: []*model.ApplicationPlanPreviewResult{
			{ApplicationId: "2", ApplicationName: "b", Error: "broken"},
			{ApplicationId: "1", ApplicationName: "a", SyncStrategy: model.SyncStrategy_PIPELINE,
				PlanSummary: []byte("Pipeline: because"),
				PluginNames: []string{"kubernetes"},
				PluginPlanResults: []*model.PluginPlanPreviewResult{{PluginName: "kubernetes", DeployTarget: "local",
					PlanSummary: []byte("1 changed"), PlanDetails: []byte("-a\n+b\n"), DiffLanguage: "diff"}}},
		}})
	require.NoError(t, err)
	_, err = p.piped.ReportCommandHandled(testContext(t), &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(), Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: time.Now().Unix(),
		Output: output,
	})
	require.NoError(t, err)
	last, err := stream.Recv()
	require.NoError(t, err)
	result := last.GetResult()
	require.Len(t, result.GetApplications(), 2)
	a := result.GetApplications()[0]
	require.Equal(t, []string{"a", "PIPELINE", "Pipeline: because"},
		[]string{a.GetName(), a.GetStrategy(), a.GetStrategyReason()})
	require.Equal(t, "-a\n+b\n", a.GetTargets()[0].GetDetails())
	require.Equal(t, "broken", result.GetApplications()[1].GetError())
	require.Empty(t, result.GetErrors())
	_, err = stream.Recv()
	require.ErrorIs(t, err, io.EOF)
}

func TestAPlanPreviewThatTheUserGivesUpIsTakenBack(t *testing.T) {
	t.Parallel()
	p := watching(t)
	ctx, cancel := context.WithCancel(testContext(t))
	stream, err := deckv1.NewPlanPreviewServiceClient(p.userConn).PlanPreview(ctx,
		&deckv1.PlanPreviewRequest{HeadCommit: "c0ffee"})
	require.NoError(t, err)
	command := p.awaitPreview(t)
	require.Equal(t, "main", command.GetBuildPlanPreview().GetHeadBranch())

	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{})
	require.NoError(t, err)
	cancel()
	for len(p.waitingPreviews(t)) > 0 {
		_, err := watch.Recv() // piped is notified
		require.NoError(t, err)
	}
	for err == nil {
		_, err = stream.Recv()
	}
	require.False(t, errors.Is(err, io.EOF))
	// Its answer comes too late, and is taken without a complaint.
	_, err = p.piped.ReportCommandHandled(testContext(t), &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(), Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: time.Now().Unix(),
	})
	require.NoError(t, err)
}

func TestAPlanPreviewIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	refused := func(p *plane, r *deckv1.PlanPreviewRequest) error {
		stream, err := deckv1.NewPlanPreviewServiceClient(p.userConn).PlanPreview(testContext(t), r)
		require.NoError(t, err)
		_, err = stream.Recv()
		return err
	}
	p := start(t)
	err := refused(p, &deckv1.PlanPreviewRequest{HeadCommit: "c"})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "wait until it has started")
	p = watching(t)
	requireCode(t, codes.InvalidArgument, refused(p, &deckv1.PlanPreviewRequest{}))
	err = refused(p, &deckv1.PlanPreviewRequest{HeadCommit: "c", Repository: "other"})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "choose one of: apps")
	requireCode(t, codes.InvalidArgument,
		refused(p, &deckv1.PlanPreviewRequest{HeadCommit: "c", Timeout: durationpb.New(time.Millisecond)}))
	require.Empty(t, p.waitingPreviews(t))
}

func TestAPlanPreviewWithoutAnswerExpires(t *testing.T) {
	t.Parallel()
	clock := newClock()
	p := watching(t, clock.config)
	_, err := deckv1.NewPlanPreviewServiceClient(p.userConn).PlanPreview(testContext(t),
		&deckv1.PlanPreviewRequest{HeadCommit: "c"})
	require.NoError(t, err)
	p.awaitPreview(t)
	clock.seconds.Add(5 * 60)
	require.Len(t, p.waitingPreviews(t), 1)
	clock.seconds.Add(2 * 60)
	require.Empty(t, p.waitingPreviews(t))
}
