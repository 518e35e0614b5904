// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestBreakpointsReachThePipedAndTheUser(t *testing.T) {
	t.Parallel()
	p := start(t)
	before := &deckv1.Breakpoint{When: deckv1.Breakpoint_WHEN_BEFORE, Application: "shop", Stage: "deploy"}
	set, err := p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{
		Set: []*deckv1.Breakpoint{before, before}})
	require.NoError(t, err)
	require.Len(t, set.GetBreakpoints(), 1, "the same one is set once")

	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{StopsAtBreakpoints: true})
	require.NoError(t, err)
	first, err := watch.Recv()
	require.NoError(t, err)
	require.Equal(t, "deploy", first.GetBreakpoints().GetBreakpoints()[0].GetStage())
	require.True(t, first.GetDeployments(), "they come with what lets deployments begin")

	_, err = p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{
		Clear: []*deckv1.Breakpoint{before}})
	require.NoError(t, err)
	for {
		change, err := watch.Recv()
		require.NoError(t, err)
		if change.GetBreakpoints() != nil {
			require.Empty(t, change.GetBreakpoints().GetBreakpoints())
			break
		}
	}
	_, err = p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{
		Set: []*deckv1.Breakpoint{{Stage: "deploy"}}})
	requireCode(t, codes.InvalidArgument, err)
}

func TestAPipedThatDoesNotStopGetsNoBreakpoints(t *testing.T) {
	t.Parallel()
	p := start(t)
	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	_, err = p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{
		Set: []*deckv1.Breakpoint{{When: deckv1.Breakpoint_WHEN_AFTER, Stage: "*"}}})
	requireCode(t, codes.FailedPrecondition, err)
	require.Contains(t, status.Convert(err).Message(), "does not stop at breakpoints")
}

// A piped pauses a stage by a note with the stage, and gets the decision of the user as a command.
func TestAUserGoesOnWithAPausedStage(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	v := p.watch(t, false)
	paused := false
	newReplayer(t).play(p.pipedConn, recording(t, "a1"), func(int) {
		d, err := p.piped.GetDeployment(testContext(t), &pipedservice.GetDeploymentRequest{Id: id("3")})
		if !paused && err == nil && d.GetDeployment().GetStatus() == model.DeploymentStatus_DEPLOYMENT_RUNNING {
			paused = true
			p.pausesAndGoesOn(t, v)
		}
	})
	require.True(t, paused, "the recording has a running deployment")
}

func (p *plane) pausesAndGoesOn(t *testing.T, v *view) {
	t.Helper()
	ask := func(how deckv1.ContinueStageRequest_How) error {
		_, err := p.deck.ContinueStage(testContext(t), &deckv1.ContinueStageRequest{
			DeploymentId: id("3"), StageId: id("5"), How: how, Options: `{"a": 1}`, Commander: "ada"})
		return err
	}
	requireCode(t, codes.FailedPrecondition, ask(deckv1.ContinueStageRequest_HOW_CONTINUE))
	note := func(text string) {
		_, err := p.piped.SaveStageMetadata(testContext(t), &pipedservice.SaveStageMetadataRequest{
			DeploymentId: id("3"), StageId: id("5"), Metadata: map[string]string{"pipedeck/paused": text}})
		require.NoError(t, err)
	}
	note(`{"when": "before", "since": 1000, "attempt": 1, "directory": "/src", "options": "{\"a\": 0}"}`)
	v.until(func() bool { return v.stage(id("3"), id("5")).GetPause().GetDirectory() == "/src" })
	require.Equal(t, deckv1.Breakpoint_WHEN_BEFORE, v.stage(id("3"), id("5")).GetPause().GetWhen())
	run, err := p.deck.GetStageRun(testContext(t), &deckv1.GetStageRunRequest{DeploymentId: id("3"), StageId: id("5")})
	require.NoError(t, err)
	require.NotContains(t, run.GetMetadata(), "pipedeck/paused")
	requireCode(t, codes.InvalidArgument, ask(deckv1.ContinueStageRequest_HOW_UNSPECIFIED))

	watch, err := p.agent.Watch(testContext(t), &agentv1.WatchRequest{StopsAtBreakpoints: true})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	answers := make(chan error, 1)
	go func() { answers <- ask(deckv1.ContinueStageRequest_HOW_CONTINUE) }()
	for change := (&agentv1.WatchResponse{}); !change.GetCommands(); {
		change, err = watch.Recv()
		require.NoError(t, err)
	}
	list, err := p.piped.ListUnhandledCommands(testContext(t), &pipedservice.ListUnhandledCommandsRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetCommands(), 1)
	command := list.GetCommands()[0]
	require.Equal(t, "continue", command.GetMetadata()["pipedeck/breakpoint"])
	require.JSONEq(t, `{"a": 1}`, command.GetMetadata()["pipedeck/breakpoint-options"])
	_, err = p.piped.ReportCommandHandled(testContext(t), &pipedservice.ReportCommandHandledRequest{
		CommandId: command.GetId(), Status: model.CommandStatus_COMMAND_FAILED, HandledAt: 1,
		Output: []byte("the options are wrong: a"),
	})
	require.NoError(t, err)
	err = <-answers
	requireCode(t, codes.InvalidArgument, err)
	require.Contains(t, status.Convert(err).Message(), "the options are wrong: a")
	note(`{}`)
	v.until(func() bool { return v.stage(id("3"), id("5")).GetPause() == nil })
}

func TestBreakpointsThatUsersSetOutlastTheControlPlane(t *testing.T) {
	t.Parallel()
	keep := keepIn(filepath.Join(t.TempDir(), "history"))
	flag := &deckv1.Breakpoint{When: deckv1.Breakpoint_WHEN_BEFORE, Stage: "flag"}
	set := &deckv1.Breakpoint{When: deckv1.Breakpoint_WHEN_AFTER, Application: "shop", Stage: "set"}
	cleared := &deckv1.Breakpoint{When: deckv1.Breakpoint_WHEN_FAILURE, Stage: "*"}
	run := func(flags, set, clear []*deckv1.Breakpoint) (before []*deckv1.Breakpoint) {
		p := start(t, keep)
		require.NoError(t, p.server.SetBreakpoints(flags))
		answer, err := p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{})
		require.NoError(t, err)
		_, err = p.deck.ChangeBreakpoints(testContext(t), &deckv1.ChangeBreakpointsRequest{Set: set, Clear: clear})
		require.NoError(t, err)
		p.stop()
		return answer.GetBreakpoints()
	}
	all := func(list ...*deckv1.Breakpoint) []*deckv1.Breakpoint { return list }
	require.Len(t, run(all(flag), all(set, cleared), nil), 1)
	second := run(nil, nil, all(cleared))
	require.Len(t, second, 2, "those of flags are given again")
	require.Equal(t, "set", second[0].GetStage())
	require.Len(t, run(all(flag), nil, nil), 2, "a flag and one that was set")
	require.Len(t, run(nil, nil, all(set)), 1)
	require.Empty(t, run(nil, nil, nil))
}
