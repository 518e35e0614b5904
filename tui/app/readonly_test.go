// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

// looking is a UI that changes nothing.
func looking(t *testing.T) *model {
	m := still(t)
	m.host.cfg.ReadOnly = "it was opened with --read-only"
	m.size(140, 44)
	return m
}

func TestAUIThatChangesNothingOffersNoAction(t *testing.T) {
	t.Parallel()
	m := looking(t)
	m.see(decktest.Running()...)
	shown := func() string { return ansi.Strip(m.View().Content) }
	require.Contains(t, shown(), "waits for approval")
	require.NotContains(t, shown(), "press a")
	for _, offers := range []string{"a approve", "s sync", "c cancel", "b break"} {
		require.NotContains(t, footerOf(m), offers)
	}
	m.key("a")
	require.Contains(t, m.toast.text, "it was opened with --read-only")

	m.key("?")
	for _, group := range m.overlays.top().(*help).groups() {
		for _, b := range group.Bindings {
			require.NotContains(t, m.host.refused(), b.Action, b.Help)
		}
	}
	m.key("esc", ":")
	for _, entry := range m.overlays.top().(*palette).all() {
		require.NotContains(t, m.host.refused(), entry.Action, entry.Title)
	}
	m.key("esc")
	require.Contains(t, m.host.refused(), keymap.Approve)

	paused := decktest.Canary()
	paused.Stages[2].CanApprove, paused.Stages[2].Pause = false, &deckv1.StagePause{When: deckv1.Breakpoint_WHEN_BEFORE}
	m.receive(paused)
	require.Contains(t, shown(), "paused before")
	require.NotContains(t, shown(), "press b")
}

func TestAUIThatChangesNothingShowsNoCardAndNoKeyToDeploy(t *testing.T) {
	t.Parallel()
	m := looking(t)
	m.see(decktest.Environment(), decktest.Application(), decktest.Succeeded())
	require.Empty(t, m.cards.open)
	m = looking(t)
	m.see(decktest.Environment(), decktest.Application())
	require.Contains(t, ansi.Strip(m.View().Content), "No deployment yet.")
	require.NotContains(t, ansi.Strip(m.View().Content), "press s")
}
