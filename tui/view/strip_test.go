// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestTheStripShowsTheSelectedApplicationThenTheWorst(t *testing.T) {
	t.Parallel()
	app := func(name string, sync deckv1.SyncStatus, newest *deckv1.Deployment) Application {
		a := decktest.Application()
		a.Id, a.Name, a.Deploying, a.Sync = name, name, newest.GetCompletedAt() == nil && newest != nil, sync
		return Application{Application: a, Name: a.GetName(), Newest: newest, Outcome: newest}
	}
	synced, drifted := deckv1.SyncStatus_SYNC_STATUS_SYNCED, deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC
	running := decktest.Release()
	v := ApplicationStrip{Theme: theme.New(theme.Options{NoColor: true}), Key: "1", Selected: 3, List: []Application{
		app("catalog", synced, nil), app("mail", drifted, nil), app("checkout", synced, running),
		app("hello", synced, nil), app("payments", synced, decktest.Canary()), app("search", synced, decktest.Failed()),
	}}
	strip := func(width int) string {
		line := ansi.Strip(v.Draw(width))
		require.Equal(t, width, text.Width(line))
		return line
	}
	require.Equal(t, " ✓ hello   ✗ search   ◆ payments   ● checkout   ≠ mail   ✓ catalog", strip(66))
	require.Equal(t, " ✓ hello   ✗ search   ◆ payments   +3 · 1 lists all", strip(51))
	require.Equal(t, " ✓ hello   ✗ search   +4 · 1 lists all            ", strip(50))
	for width := range 300 {
		line := ansi.Strip(v.Draw(width))
		require.Equal(t, width, text.Width(line))
		if width >= 72 {
			require.NotContains(t, line, "+")
		}
	}
	v.List = nil
	require.Contains(t, strip(72), "no application yet")
}
