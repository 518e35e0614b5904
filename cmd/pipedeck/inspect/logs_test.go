// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestLogsSayWhyADeploymentHasNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*deckv1.Deployment)
		says   string
	}{
		"a failed planning": {func(d *deckv1.Deployment) {
			d.Stages, d.Status = nil, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE
			d.StatusReason = "cannot plan: app.pipecd.yaml:3:1: unknown field\x1b[2J"
		}, "==> hello-world 8b21f00: FAILURE\nit ended in its planning; it has no stage\n" +
			"cannot plan: app.pipecd.yaml:3:1: unknown field\n" +
			"next step: correct the cause and commit, or: pipedeck sync hello-world\n"},
		"a planning under way": {func(d *deckv1.Deployment) {
			d.Stages, d.Status = nil, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING
		}, "==> hello-world 8b21f00: PENDING\nits planning has not ended; it has no stage yet\n"},
		"no stage has begun": {func(d *deckv1.Deployment) {
			d.Stages = d.Stages[3:]
		}, "==> hello-world 8b21f00: RUNNING\nno stage has begun\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			d := decktest.Canary()
			c.change(d)
			server.Publish(decktest.Application(), d)
			deck := server.Dial(t)
			s, err := session.ReadState(t.Context(), deck)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, (&logPrinter{deck: deck, out: &out}).print(t.Context(), s.Deployment("dep-1")))
			require.Equal(t, c.says, out.String())
		})
	}
}

func TestTheLogOfAStageIsFoundByTheIDThatItsAuthorGaveIt(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	d.Stages[1].ConfigId = "pause"
	server.Publish(decktest.Application(), d)
	server.Log("s2", deckv1.Severity_SEVERITY_INFO, "three seconds")
	server.CompleteLog("s2")
	for _, word := range []string{"pause", "WAIT", "s2"} {
		var out bytes.Buffer
		require.NoError(t, (&logPrinter{deck: server.Dial(t), stage: word, out: &out}).print(t.Context(), d))
		require.Contains(t, out.String(), "==> hello-world pause: SUCCESS\n", word)
		require.Contains(t, out.String(), "three seconds")
	}
	err := (&logPrinter{deck: server.Dial(t), stage: "paws", out: io.Discard}).print(t.Context(), d)
	require.ErrorContains(t, err, `stage "paws" has no log`)
}

func TestAllKeptDeploymentsAreListedAndForgottenOnesAreSaid(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Application())
	add := func(from, to int) {
		for i := from; i < to; i++ {
			d := decktest.Canary()
			d.Id, d.CreatedAt = fmt.Sprintf("dep-%03d", i), decktest.At(float64(i))
			server.Publish(d)
		}
	}
	add(0, 150)
	s, err := session.ReadState(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Len(t, s.AllDeployments(), 150)
	require.Empty(t, forgotten(s))
	add(150, store.KeptPerApplication)
	s, err = session.ReadState(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Contains(t, forgotten(s), "an environment keeps the newest 200 of an application, and 1000 in all")
}

func TestLogsOfAnUnknownPluginListTheOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := workspace.At(dir, "default")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("hello\n"), 0o600))
	code, _, stderr := command(t.Context(), dir, "logs", "--plugin", "nope")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "plugin \"nope\" has written nothing\nnext step: choose one of: wait")
	code, stdout, _ := command(t.Context(), dir, "logs", "--plugin", "wait")
	require.Zero(t, code)
	require.Equal(t, "hello\n", stdout)
}
