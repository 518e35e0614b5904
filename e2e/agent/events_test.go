// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

// newEventEnvironment is an environment whose application takes its image from events.
func newEventEnvironment(t *testing.T) *environment {
	t.Helper()
	e := newEnvironment(t, pipeline("{log: hello}", "{}")+`  eventWatcher:
    - matcher: {name: image, labels: {env: dev}}
      handler:
        config:
          commitMessage: "Deploy {{ .Value }}"
          replacements: [{file: values.yaml, yamlField: $.image}]
`)
	values := filepath.Join(e.repository, "app", "values.yaml")
	require.NoError(t, os.WriteFile(values, []byte("image: v1 # set by events\n"), 0o600))
	e.git(t, "add", ".")
	e.git(t, "commit", "-q", "-m", "Add values")
	return e
}

func (e *environment) registerEvent(t *testing.T, value string) {
	t.Helper()
	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = apiservice.NewAPIServiceClient(conn).RegisterEvent(t.Context(), &apiservice.RegisterEventRequest{
		Name: "image", Data: value, Labels: map[string]string{"env": "dev"},
		CommitHash: "0123456789012345678901234567890123456789",
	})
	require.NoError(t, err)
}

func TestAnEventWhoseBranchIsInUseIsAProblemUntilItIsRegisteredAgain(t *testing.T) {
	t.Parallel()
	e := newEventEnvironment(t)
	e.start(t)
	e.deck.awaitEnd(t, 0)
	e.registerEvent(t, "v2")
	problem := e.deck.awaitProblem(t, "event image", "the branch is in use by a working tree")
	require.Contains(t, problem.GetReason(), "git config receive.denyCurrentBranch updateInstead")
	require.Contains(t, problem.GetNextStep(), "pipedeck event register image --data VALUE")
	e.git(t, "config", "receive.denyCurrentBranch", "updateInstead")
	e.registerEvent(t, "v2")
	e.deck.awaitNoProblem(t)
	require.Equal(t, "Deploy v2", e.deck.awaitEnd(t, 1).GetCommit().GetMessage())
}

func TestAnEventChangesAFileAndIsDeployed(t *testing.T) {
	t.Parallel()
	e := newEventEnvironment(t)
	values := filepath.Join(e.repository, "app", "values.yaml")
	e.git(t, "config", "receive.denyCurrentBranch", "updateInstead")
	e.start(t)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())

	e.registerEvent(t, "v2")
	second := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, second.GetStatus())
	require.Equal(t, "Deploy v2", second.GetCommit().GetMessage())
	content, err := os.ReadFile(values)
	require.NoError(t, err)
	require.Equal(t, "image: v2 # set by events\n", string(content), "the working tree follows")
}
