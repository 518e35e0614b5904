// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// queue makes further deployments of the application wait for the shown one.
func queue(m *model, hashes ...string) {
	for i, hash := range hashes {
		one := decktest.Canary()
		one.Id, one.Status, one.Stages = "dep-"+hash, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING, nil
		one.Strategy = ""
		one.Commit.Hash, one.CreatedAt = hash+"00000", decktest.At(41+float64(i))
		m.receive(one)
	}
}

func TestADialogAboutOneOfSeveralDeploymentsNamesItsIdAndCommit(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 36)
	m.key("c")
	require.Contains(t, ansi.Strip(m.View().Content), "As a command: pipedeck cancel hello-world")
	require.Contains(t, ansi.Strip(m.View().Content), "Commit 8b21f00: Greet the world in Welsh")
	m.key("esc")
	queue(m, "aaaaaaa", "bbbbbbb")
	m.key("c")
	require.Contains(t, ansi.Strip(m.View().Content), "As a command: pipedeck cancel dep-1 ")
	require.Contains(t, ansi.Strip(m.View().Content), "Commit 8b21f00: Greet the world in Welsh")
}

func TestQueuedDeploymentsAreOnTheMainScreen(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 36)
	require.NotContains(t, ansi.Strip(m.View().Content), "queued")
	queue(m, "aaaaaaa", "bbbbbbb")
	require.Contains(t, ansi.Strip(m.View().Content), "2 queued: aaaaaaa bbbbbbb · 5 stages")
	m.size(50, 24)
	require.Contains(t, ansi.Strip(m.View().Content), "2 queued ")
	require.NotContains(t, ansi.Strip(m.View().Content), "aaaaaaa")
}

func TestAQueuedDeploymentSaysBehindWhichCommitItWaits(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 36)
	queue(m, "aaaaaaa", "bbbbbbb")
	m.key("d", "g", "enter") // the newest
	require.Equal(t, "dep-bbbbbbb", m.chosen.deployment().GetId())
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "It begins when the deployment of commit 8b21f00 has ended.")
	m.receive(decktest.Failed()) // dep-1 has ended
	require.NotContains(t, ansi.Strip(m.View().Content), "It begins when")
}

func TestTheTimeOfADeploymentBeginsAfterTheQueue(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 36)
	screen := ansi.Strip(m.panes.deployment.draw(100, 20, false))
	require.Contains(t, screen, " 42s")
	before := decktest.Failed()
	before.Id, before.CreatedAt, before.CompletedAt = "dep-0", decktest.At(-60), decktest.At(0)
	shown := decktest.Canary()
	shown.CreatedAt = decktest.At(-24)
	m.receive(before, shown)
	screen = ansi.Strip(m.panes.deployment.draw(100, 20, false))
	require.Contains(t, screen, " 42s after 24s queued")
}

func TestACardCountsTheWaitingOfAllAttemptsAndNotTheQueue(t *testing.T) {
	t.Parallel()
	before := decktest.Failed()
	before.Id, before.CreatedAt, before.CompletedAt = "dep-0", decktest.At(-60), decktest.At(0)
	shown := decktest.Succeeded()
	shown.CreatedAt = decktest.At(-24)
	ask := shown.Stages[2]
	first := ask.StartedAt
	ask.Retries, ask.FirstStartedAt, ask.StartedAt = 1, first, decktest.At(ask.CompletedAt.AsTime().Sub(
		decktest.At(0).AsTime()).Seconds()-1)
	m := carded(t, 100, 30, shown)
	m.receive(before)
	require.Contains(t, ansi.Strip(m.View().Content),
		"5 stages in 38s, 8.0s of it waiting for approval, after 24s queued")
}
