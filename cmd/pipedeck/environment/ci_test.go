// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestARunThatDidNotDeployEverythingIsNoSuccess(t *testing.T) {
	t.Parallel()
	var failure *exit.Error
	require.ErrorAs(t, incomplete(reader.ErrEnded, "", ""), &failure)
	require.Equal(t, exit.Interrupted, failure.Code)
	require.NotErrorIs(t, failure, reader.ErrEnded, "only those who wait for the end take it for a success")

	require.ErrorAs(t, incomplete(context.DeadlineExceeded, "kubernetes: connection refused", ""), &failure)
	require.Equal(t, exit.TimedOut, failure.Code)
	require.EqualError(t, failure, "timed out: kubernetes: connection refused")

	named := failure
	require.Equal(t, error(named), incomplete(named, "another part", ""), "the first reason stays")
	require.ErrorAs(t, incomplete(fmt.Errorf("host: %w", context.DeadlineExceeded), "web: RUNNING", ""), &failure)
	require.EqualError(t, failure, "timed out: web: RUNNING", "also when the host ends first")

	for _, err := range []error{nil, context.Canceled, errors.New("broken stream")} {
		require.Equal(t, err, incomplete(err, "web: RUNNING", ""))
	}
}

func TestWhatIsWaitedForIsSaid(t *testing.T) {
	t.Parallel()
	starting := decktest.Component(0, "kubernetes", "waiting for https://127.0.0.1:9: connection refused")
	starting.State = deckv1.Component_STATE_STARTING
	ready := decktest.Component(1, "piped", "dev")
	ready.State = deckv1.Component_STATE_READY
	running := decktest.Canary()
	running.Status, running.StatusReason = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING, "The stages are running"
	for name, c := range map[string]struct {
		objects []proto.Message
		want    string
	}{
		"parts before deployments": {[]proto.Message{starting, ready, decktest.Application(), running},
			"kubernetes: waiting for https://127.0.0.1:9: connection refused"},
		"deployments": {[]proto.Message{ready, decktest.Application(), running},
			decktest.Application().Name + ": RUNNING: The stages are running"},
		"what is degraded": {
			[]proto.Message{ready, decktest.Application(), running, decktest.Problems()[1]},
			decktest.Application().Name + ": RUNNING: The stages are running; plugin wait is degraded: " +
				decktest.Problems()[1].GetReason() +
				" (next step: " + decktest.Problems()[1].GetNextStep() + ")",
		},
		"an application that is not deployed": {[]proto.Message{ready, decktest.Application()},
			decktest.Application().Name + ": not deployed yet"},
		"nothing": {[]proto.Message{ready}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deck := state.New()
			for _, event := range decktest.Events(c.objects...) {
				deck.Apply(event)
			}
			require.Equal(t, c.want, unfinished(deck))
		})
	}
}

func TestCIThatIsInterruptedOrLateIsNoSuccessAndLeavesNothing(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	dir := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := command(ctx, dir, ciArguments(t, repo)...)
	require.Equal(t, exit.Interrupted, code, stderr)
	require.NoDirExists(t, dir)

	code, _, stderr = command(t.Context(), dir, ciArguments(t, repo, "--timeout", "1ns")...)
	require.Equal(t, exit.TimedOut, code, stderr)
	require.NoDirExists(t, dir)
}

func TestCIWithABrokenConfigurationRemovesOnlyWhatItMade(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
	dir := filepath.Join(t.TempDir(), "state")
	code, _, stderr := command(t.Context(), dir, ciArguments(t, repo)...)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "app.pipecd.yaml:4:")
	require.NoDirExists(t, dir)

	work := filepath.Join(dir, "test", "repository", "work")
	require.NoError(t, os.MkdirAll(work, 0o700))
	code, _, _ = command(t.Context(), dir, ciArguments(t, repo)...)
	require.Equal(t, exit.WrongUsage, code)
	require.DirExists(t, work, "what was there before stays")
}

func TestCIWarnsOfApplicationsInFilesThatPipedDoesNotFind(t *testing.T) {
	t.Parallel()
	// What is deployed has a mistake, so that nothing is started.
	repo := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
	for _, name := range []string{"web/app.pipecd.yml", "db/pipecd.yaml"} {
		require.NoError(t, os.MkdirAll(filepath.Join(repo, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte(clitest.GoodApplication), 0o600))
	}
	clitest.CommitAll(t, repo)
	code, _, stderr := command(t.Context(), filepath.Join(t.TempDir(), "state"), ciArguments(t, repo)...)
	require.Equal(t, exit.WrongUsage, code)
	for _, name := range []string{"web/app.pipecd.yml", "db/pipecd.yaml"} {
		require.Equal(t, 1, strings.Count(stderr, "  warning: "+name+": "+config.NotFound+"\n"), stderr)
	}
}

func TestCIWarnsOfInputsThatNoCommitDeploys(t *testing.T) {
	t.Parallel()
	// What is deployed has a mistake, so that nothing is started.
	repo := clitest.Repository(t, "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  timeout: soon\n")
	for name, content := range map[string]string{
		"web/app.pipecd.yaml":        clitest.GoodApplication,
		"web/kustomization.yaml":     "resources: [../base]\n",
		"covered/app.pipecd.yaml":    clitest.GoodApplication + "  trigger: {onCommit: {paths: [base]}}\n",
		"covered/kustomization.yaml": "resources: [../base]\n",
		"base/kustomization.yaml":    "resources: [web.yaml]\n",
		"base/web.yaml":              "kind: Service\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(repo, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte(content), 0o600))
	}
	clitest.CommitAll(t, repo)
	code, _, stderr := command(t.Context(), filepath.Join(t.TempDir(), "state"), ciArguments(t, repo)...)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "  warning: web/app.pipecd.yaml:4:3: spec.trigger.onCommit.paths: the application "+
		"uses base outside of its directory: a commit that changes only it deploys nothing, unless paths lists it\n")
	require.NotContains(t, stderr, "covered/app.pipecd.yaml:4:3: spec.trigger")
	require.Equal(t, 1, strings.Count(stderr, "outside of its directory"))
}
