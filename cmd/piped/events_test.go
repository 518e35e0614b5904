// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
)

func TestAnEventChangesAFileAndIsDeployed(t *testing.T) {
	t.Parallel()
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
	e.git(t, "config", "receive.denyCurrentBranch", "updateInstead")
	e.start(t)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 0).GetStatus())

	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = apiservice.NewAPIServiceClient(conn).RegisterEvent(t.Context(), &apiservice.RegisterEventRequest{
		Name: "image", Data: "v2", Labels: map[string]string{"env": "dev"}, CommitHash: "0123456789012345678901234567890123456789",
	})
	require.NoError(t, err)
	second := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, second.GetStatus())
	require.Equal(t, "Deploy v2", second.GetCommit().GetMessage())
	content, err := os.ReadFile(values)
	require.NoError(t, err)
	require.Equal(t, "image: v2 # set by events\n", string(content), "the working tree follows")
}
