// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// pausing serves an environment whose example deployment is paused before s4, in a directory that exists.
func pausing(t *testing.T) (server *decktest.Server, stateDir, directory string) {
	t.Helper()
	directory = t.TempDir()
	environment := decktest.Environment()
	environment.Breakpoints = []*deckv1.Breakpoint{{When: deckv1.Breakpoint_WHEN_FAILURE, Stage: "*"}}
	d := decktest.Canary()
	d.Stages[3].Pause = &deckv1.StagePause{When: deckv1.Breakpoint_WHEN_BEFORE, Since: decktest.At(1), Attempt: 1,
		Directory: directory, Options: `{"prune":true}`, DeployTargets: []string{"kubernetes/local"}}
	server = decktest.Start(t)
	server.Publish(environment, decktest.Application(), d, &deckv1.Synced{})
	return server, clitest.Running(t, server.Address()), directory
}

func TestBreakpointsAndPausedStagesAreDocuments(t *testing.T) {
	t.Parallel()
	_, stateDir, directory := pausing(t)
	for _, args := range [][]string{{"break", "--list"}, {"break", "show"}} {
		code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, append(args, "-o", "json")...)
		require.Zero(t, code, stderr)
		var list document.Breakpoints
		clitest.Document(t, "breakpoints", stdout, &list)
		require.Equal(t, "before", list.Paused[0].When)
		require.Equal(t, directory, list.Paused[0].Directory)
		require.JSONEq(t, `{"prune": true}`, string(list.Paused[0].With))
		require.Equal(t, "K8S_PRIMARY_ROLLOUT", list.Paused[0].Environment["PIPEDECK_STAGE_NAME"])
	}
	code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, "break")
	require.Zero(t, code, stderr)
	require.Equal(t, "breakpoint failure\nhello-world is paused before K8S_PRIMARY_ROLLOUT\n", stdout)
}

func TestBreakpointsAreSetAndCleared(t *testing.T) {
	t.Parallel()
	server, stateDir, _ := pausing(t)
	before := func(application, stage string) *deckv1.Breakpoint {
		return &deckv1.Breakpoint{When: deckv1.Breakpoint_WHEN_BEFORE, Application: application, Stage: stage}
	}
	for _, c := range []struct {
		args []string
		want *deckv1.ChangeBreakpointsRequest
	}{
		{[]string{"break", "WAIT"}, &deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{before("", "WAIT")}}},
		{[]string{"break", "hello-world", "*"},
			&deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{before("hello-world", "*")}}},
		{[]string{"break", "hello-world/WAIT"},
			&deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{before("hello-world", "WAIT")}}},
		{[]string{"break", "--on-failure"}, &deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{
			{When: deckv1.Breakpoint_WHEN_FAILURE, Stage: "*"}}}},
		{[]string{"break", "--clear"}, &deckv1.ChangeBreakpointsRequest{ClearAll: true}},
		{[]string{"break", "WAIT", "--clear"}, &deckv1.ChangeBreakpointsRequest{Clear: []*deckv1.Breakpoint{
			before("", "WAIT"), {When: deckv1.Breakpoint_WHEN_AFTER, Stage: "WAIT"},
			{When: deckv1.Breakpoint_WHEN_FAILURE, Stage: "WAIT"}}}},
	} {
		code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, c.args...)
		require.Zero(t, code, stderr)
		got := (<-server.Calls).(*deckv1.ChangeBreakpointsRequest)
		require.Equal(t, c.want.String(), got.String(), c.args)
	}
	code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, "break", "shop/")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, `"shop/" is not APP/STAGE`)
	code, _, stderr = clitest.Run(t.Context(), Commands, stateDir, "break", "--after")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "a stage to pause at is missing")
}

func TestABreakpointThatNothingMatchesSaysSo(t *testing.T) {
	t.Parallel()
	server, stateDir, _ := pausing(t)
	server.Publish(&deckv1.Plugin{Name: "kubernetes", Stages: []string{"K8S_SYNC"}})
	for stage, warning := range map[string]string{
		"K8S_SYNK": "warning: nothing matches now: no plugin and no deployment has a stage K8S_SYNK; did you mean " +
			"K8S_SYNC?\n",
		"K8S_SYNC": "", "K8S_PRIMARY_ROLLOUT": "", "*": "", "K8S_ROLLBACK": "",
	} {
		code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, "break", stage)
		require.Zero(t, code, stderr)
		require.Equal(t, warning, stderr)
		<-server.Calls
	}
	code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, "break", "nosuch", "--clear")
	require.Zero(t, code)
	require.Empty(t, stderr)
}

func TestAPausedStageGoesOn(t *testing.T) {
	t.Parallel()
	server, stateDir, directory := pausing(t)
	with := filepath.Join(t.TempDir(), "with.yaml")
	require.NoError(t, os.WriteFile(with, []byte("prune: false\n"), 0o600))
	code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, "continue", "--with", with)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "continued K8S_PRIMARY_ROLLOUT of hello-world with other options")
	request := (<-server.Calls).(*deckv1.ContinueStageRequest)
	require.JSONEq(t, `{"prune": false}`, request.GetOptions())
	require.Equal(t, "s4", request.GetStageId())

	code, _, stderr = clitest.Run(t.Context(), Commands, stateDir, "continue", "--abort")
	require.Zero(t, code, stderr)
	require.Equal(t, "dep-1", (<-server.Calls).(*deckv1.CancelDeploymentRequest).GetDeploymentId())

	require.NoError(t, os.WriteFile(with, []byte("[1]"), 0o600))
	code, _, stderr = clitest.Run(t.Context(), Commands, stateDir, "continue", "--with", with)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "it is not an object with options")
	require.Empty(t, server.Calls)

	server.Refuse(status.Error(codes.InvalidArgument, "the options are wrong: prune"))
	code, _, stderr = clitest.Run(t.Context(), Commands, stateDir, "continue")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "stage K8S_PRIMARY_ROLLOUT of hello-world stays paused: the options are wrong: prune")

	code, stdout, stderr = clitest.Run(t.Context(), Commands, stateDir, "shell", "--print-dir")
	require.Zero(t, code, stderr)
	require.Equal(t, directory+"\n", stdout)
}
