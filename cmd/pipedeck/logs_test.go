// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
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
			server.Tell(decktest.Application(), d)
			deck := server.Dial(t)
			s, err := takeSnapshot(t.Context(), deck)
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, deploymentLogs(t.Context(), deck, s.Deployment("dep-1"), "", false, "", &out))
			require.Equal(t, c.says, out.String())
		})
	}
}

func TestAllKeptDeploymentsAreListedAndForgottenOnesAreSaid(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Tell(decktest.Application())
	add := func(from, to int) {
		for i := from; i < to; i++ {
			d := decktest.Canary()
			d.Id, d.CreatedAt = fmt.Sprintf("dep-%03d", i), decktest.At(float64(i))
			server.Tell(d)
		}
	}
	add(0, 150)
	s, err := takeSnapshot(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Len(t, s.deployments(), 150)
	require.Empty(t, s.forgotten())
	add(150, store.KeptPerApplication)
	s, err = takeSnapshot(t.Context(), server.Dial(t))
	require.NoError(t, err)
	require.Contains(t, s.forgotten(), "an environment keeps the newest 200 of an application, and 1000 in all")
}
