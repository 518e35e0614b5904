// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestEveryActionPrintsADocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want document.Action
	}{
		"sync":    {[]string{"sync", "hello-world"}, document.Action{App: "hello-world", AppID: "app-1"}},
		"approve": {[]string{"approve"}, document.Action{App: "hello-world", Stage: "s3", StageName: "WAIT_APPROVAL"}},
		"skip":    {[]string{"skip", "dep-1", "s3"}, document.Action{App: "hello-world", Stage: "s3"}},
		"cancel":  {[]string{"cancel", "dep"}, document.Action{App: "hello-world", Deployment: "dep-1"}},
		"restart": {[]string{"restart", "kubernetes"}, document.Action{Plugin: "kubernetes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			d := decktest.Canary()
			d.Stages[2].CanSkip = true
			server.Publish(d)
			stateDir := clitest.Running(t, server.Address())
			code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, append(c.args, "-o", "json")...)
			require.Zero(t, code, stderr)
			var done document.Action
			clitest.Document(t, "action", stdout, &done)
			require.Equal(t, name, done.Action)
			require.NotEmpty(t, done.Text)
			for _, pair := range [][2]string{{c.want.App, done.App}, {c.want.Deployment, done.Deployment},
				{c.want.Stage, done.Stage}, {c.want.StageName, done.StageName}, {c.want.Plugin, done.Plugin}} {
				if pair[0] != "" {
					require.Equal(t, pair[0], pair[1], stdout)
				}
			}
		})
	}
}

func TestAnEarlierCommitIsDeployedWithADocument(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	app, failed := decktest.Application(), decktest.Failed()
	app.PipedId = "p"
	server.Publish(decktest.Environment(), &deckv1.Piped{Id: "p", Name: "p1", DeploysCommits: true}, app, failed)
	stateDir := clitest.Running(t, server.Address())
	code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, "retry", failed.GetId()[:3], "-o", "json")
	require.Zero(t, code, stderr)
	var done document.Action
	clitest.Document(t, "action", stdout, &done)
	require.Equal(t, failed.GetId(), done.Of)
	require.Equal(t, failed.GetCommit().GetHash(), done.Commit)

	code, stdout, stderr = clitest.Run(t.Context(), Commands, stateDir, "rollback", failed.GetId(), "-o", "json")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "next step: to roll back to it: pipedeck rollback hello-world --output json --to "+
		failed.GetId())
	require.False(t, json.Valid([]byte(stderr)), "errors are text")
}
