// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestEventsAreInTheOrderInWhichTheyHappened(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment(), decktest.Application(), decktest.Failed())
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "events", "hello-world", "-o", "json")
	require.Zero(t, code, stderr)
	var of document.ApplicationEvents
	clitest.Document(t, "application-events", stdout, &of)
	var types []string
	for i, e := range of.Events {
		types = append(types, e.Type)
		if i > 0 {
			require.False(t, moment(t, e).Before(moment(t, of.Events[i-1])))
		}
	}
	require.Equal(t, document.DeploymentCreated, types[0])
	require.Equal(t, document.DeploymentEnded, types[len(types)-1])
	require.Equal(t, "FAILURE", of.Events[len(of.Events)-1].Status)

	code, stdout, stderr = command(t.Context(), stateDir, "events", "hello-world")
	require.Zero(t, code, stderr)
	require.Regexp(t, `STAGE_ENDED .* K8S_PRIMARY_ROLLOUT +FAILURE .* the rollout did not become ready in time\n`,
		stdout)
}

func moment(t *testing.T, e document.ApplicationEvent) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, e.Time)
	require.NoError(t, err)
	return at
}

func TestAHistoryListsTheDeploymentsOfOneApplication(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "history", "hello-world", "-o", "wide")
	require.Zero(t, code, stderr)
	require.NotContains(t, stdout, "APPLICATION")
	require.Regexp(t, `(?m)^dep-1 +RUNNING .* commit$`, stdout)
	code, stdout, stderr = command(t.Context(), stateDir, "history", "hello-world", "-o", "json")
	require.Zero(t, code, stderr)
	var list document.Deployments
	clitest.Document(t, "deployments", stdout, &list)
	require.Len(t, list.Deployments, 1)

	require.Equal(t, "COMMIT", list.Deployments[0].Trigger)

	code, _, stderr = command(t.Context(), stateDir, "history", "nothing")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "nothing")
}

func TestDeploymentsOfARemovedApplicationAreListed(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	gone := decktest.Failed()
	id := gone.GetId()
	server.Publish(decktest.Environment(), gone)
	stateDir, _ := running(t, server)
	for _, args := range [][]string{{"deployments"}, {"history", "hello-world"}, {"history",
		gone.GetApplicationId()}} {
		code, stdout, stderr := command(t.Context(), stateDir, append(args, "-o", "json")...)
		require.Zero(t, code, stderr)
		var list document.Deployments
		clitest.Document(t, "deployments", stdout, &list)
		require.Len(t, list.Deployments, 1, "%v", args)
		require.Equal(t, id, list.Deployments[0].ID)
	}
	code, stdout, stderr := command(t.Context(), stateDir, "logs", id)
	require.Contains(t, stdout, "==> hello-world ", "code %d: %s", code, stderr)
	code, _, stderr = command(t.Context(), stateDir, "history", "hello")
	require.Equal(t, exit.WrongUsage, code, "a beginning names no removed application")
	require.Contains(t, stderr, "hello")
}
