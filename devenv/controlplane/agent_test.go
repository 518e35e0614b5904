// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func (p *plane) connect(t *testing.T) (grpc.ServerStreamingClient[agentv1.WatchResponse], context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	t.Cleanup(cancel)
	stream, err := p.agent.Watch(ctx, &agentv1.WatchRequest{})
	require.NoError(t, err)
	first, err := stream.Recv()
	require.NoError(t, err)
	require.True(t, first.GetApplications() && first.GetCommands() && first.GetDeployments() && first.GetEvents(),
		"the first answer names everything")
	return stream, cancel
}

func TestPipedIsNotifiedWhatToFetchAgain(t *testing.T) {
	t.Parallel()
	p := start(t)
	newReplayer(t).play(p.pipedConn, recording(t, "a0")[:1], nil)
	stream, _ := p.connect(t)
	ctx := testContext(t)

	_, err := p.piped.ReportUnregisteredApplicationConfigurations(ctx,
		&pipedservice.ReportUnregisteredApplicationConfigurationsRequest{
			Applications: []*model.ApplicationInfo{
				{Name: "a", RepoId: "repo1", Path: "a", ConfigFilename: "app.pipecd.yaml", PipedId: pipedID,
					Labels: map[string]string{"env": "dev"}},
				{Name: "stray", RepoId: "unknown", Path: "a", ConfigFilename: "app.pipecd.yaml", PipedId: pipedID},
			},
		})
	require.NoError(t, err)
	r, err := stream.Recv()
	require.NoError(t, err)
	require.True(t, r.GetApplications())
	require.False(t, r.GetCommands())
	apps, err := p.piped.ListApplications(ctx, &pipedservice.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, apps.GetApplications(), 1)
	a := apps.GetApplications()[0]
	require.Equal(t, "dev", a.GetLabels()["env"])
	require.Equal(t, []string{"c1"}, a.GetDeployTargetsByPlugin()["kubernetes"].GetDeployTargets())
	require.Len(t, a.GetDeployTargetsByPlugin(), 1, "plugins without targets are left out")

	answered := make(chan error, 1)
	go func() {
		_, err := p.deck.SyncApplication(ctx,
			&deckv1.SyncApplicationRequest{ApplicationId: a.GetId(), Strategy: "QUICK_SYNC"})
		answered <- err
	}()
	r, err = stream.Recv()
	require.NoError(t, err)
	require.True(t, r.GetCommands())
	commands, err := p.piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	require.Equal(t, "pipedeck", commands.GetCommands()[0].GetCommander())
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, commands.GetCommands()[0].GetSyncApplication().GetSyncStrategy())
	_, err = p.piped.ReportCommandHandled(ctx, &pipedservice.ReportCommandHandledRequest{
		CommandId: commands.GetCommands()[0].GetId(), Status: model.CommandStatus_COMMAND_SUCCEEDED, HandledAt: 1,
	})
	require.NoError(t, err)
	require.NoError(t, <-answered)

	_, err = p.api.RegisterEvent(ctx, &apiservice.RegisterEventRequest{Name: "image-update", Data: "v2",
		Labels: map[string]string{"app": "ev"}})
	require.NoError(t, err)
	r, err = stream.Recv()
	require.NoError(t, err)
	require.True(t, r.GetEvents())
	latest, err := p.piped.GetLatestEvent(ctx,
		&pipedservice.GetLatestEventRequest{Name: "image-update", Labels: map[string]string{"app": "ev"}})
	require.NoError(t, err)
	require.Equal(t, "c223fe10155f51193db89335acf2cce54b8eae424c463bc346ec20bbece08918",
		latest.GetEvent().GetEventKey(), "as PipeCD computed it")
}

func TestADeletedApplicationIsNotRegisteredAgainUnlessAUserAddsIt(t *testing.T) {
	t.Parallel()
	p := start(t)
	newReplayer(t).play(p.pipedConn, recording(t, "a0"), nil)
	v := p.watch(t, false)
	ctx := testContext(t)
	before := len(v.applications)
	require.NotZero(t, before)
	var gone string
	for gone = range v.applications {
		break
	}
	name := v.applications[gone].GetName()
	_, err := p.api.DeleteApplication(ctx, &apiservice.DeleteApplicationRequest{ApplicationId: gone})
	require.NoError(t, err)
	v.until(func() bool { return len(v.applications) == before-1 })
	newReplayer(t).play(p.pipedConn, recording(t, "a0")[1:], nil)
	_, err = p.api.GetApplication(ctx, &apiservice.GetApplicationRequest{ApplicationId: gone})
	requireCode(t, codes.NotFound, err)
	added, err := p.api.AddApplication(ctx, &apiservice.AddApplicationRequest{
		Name: name, PipedId: pipedID,
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo1"}, Path: name},
	})
	require.NoError(t, err)
	require.Equal(t, gone, added.GetApplicationId(), "the id belongs to the place in Git")
}

func TestPluginsAreShownRestartedAndStoppedWithTheirPiped(t *testing.T) {
	t.Parallel()
	p := start(t)
	v := p.watch(t, false)
	ctx := testContext(t)
	_, err := p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait"})
	requireCode(t, codes.NotFound, err)
	report := func(names ...string) {
		var plugins []*agentv1.Plugin
		for _, n := range names {
			plugins = append(plugins, &agentv1.Plugin{Name: n, State: agentv1.Plugin_STATE_RUNNING, Pid: 7})
		}
		_, err := p.agent.ReportPlugins(ctx, &agentv1.ReportPluginsRequest{Plugins: plugins})
		require.NoError(t, err)
	}
	report("wait", "old")
	_, err = p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait"})
	requireCode(t, codes.FailedPrecondition, err)

	stream, disconnect := p.connect(t)
	_, err = p.agent.ReportPlugins(ctx, &agentv1.ReportPluginsRequest{Plugins: []*agentv1.Plugin{{
		Name: "wait", State: agentv1.Plugin_STATE_RUNNING, Pid: 7, ChangedBinaryFails: true,
		Detail: "its changed program does not start",
	}}})
	require.NoError(t, err)
	_, err = p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait"})
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "none could take its place: its changed program does not start; fix the program")
	report("wait")
	v.until(func() bool { return len(v.plugins) == 1 && v.plugins["wait"].GetState() == deckv1.Plugin_STATE_RUNNING })
	_, err = p.deck.RestartPlugin(ctx, &deckv1.RestartPluginRequest{Name: "wait"})
	require.NoError(t, err)
	r, err := stream.Recv()
	require.NoError(t, err)
	require.Equal(t, []string{"wait"}, r.GetRestartPlugins())

	disconnect()
	v.until(func() bool { return v.plugins["wait"].GetState() == deckv1.Plugin_STATE_STOPPED })
	require.Zero(t, v.plugins["wait"].GetPid())
	p.connect(t)
	v.until(func() bool { return v.plugins["wait"].GetState() == deckv1.Plugin_STATE_RUNNING })
}

func TestAPipedThatHangsAfterItsIntroductionIsAProblem(t *testing.T) {
	t.Parallel()
	p := start(t)
	ctx := testContext(t)
	stream, err := p.deck.Watch(ctx, &deckv1.WatchRequest{})
	require.NoError(t, err)
	// PipeCD's piped introduces itself and then waits for its plugins without a call, for ever when one hangs.
	_, err = p.piped.ReportPipedMeta(ctx, &pipedservice.ReportPipedMetaRequest{Version: "v1"})
	require.NoError(t, err)
	until := func(condition func(*deckv1.Event) bool) {
		t.Helper()
		for {
			r, err := stream.Recv()
			require.NoError(t, err)
			if slices.ContainsFunc(r.GetEvents(), condition) {
				return
			}
		}
	}
	var id string
	until(func(e *deckv1.Event) bool {
		id = e.GetProblem().GetId()
		return e.GetProblem().GetPart() == "piped" && e.GetProblem().GetNextStep() != ""
	})
	_, err = p.piped.ListUnhandledCommands(ctx, &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	until(func(e *deckv1.Event) bool { return e.GetRemoved().GetProblemId() == id })
}
