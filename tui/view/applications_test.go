// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestTheStripKeepsTheCountAndTheRunningStageAtEachWidth(t *testing.T) {
	t.Parallel()
	th, stages := theme.New(theme.Options{NoColor: true}), decktest.Release().GetStages()
	const count = " 14/30"
	for width := len(count) + 3; width < 50; width++ {
		strip := ansi.Strip(Strip(th, stages, width))
		require.LessOrEqual(t, text.Width(strip), width, strip)
		require.Contains(t, strip, "●", "%d columns", width)
		require.Contains(t, strip, count, "%d columns", width)
	}
	require.Equal(t, "…✓●○… 14/30", ansi.Strip(Strip(th, stages, 11)))
	require.Equal(t, "✓✓✓✓✓✓✓✓✓✓✓✓✓✓●○○○○○○○○○○○○○○○ 14/30",
		ansi.Strip(Strip(th, stages, 36)))
}

func TestAnUnhealthyApplicationSaysWhyInTheList(t *testing.T) {
	t.Parallel()
	app := &deckv1.Application{Name: "web", Sync: deckv1.SyncStatus_SYNC_STATUS_SYNCED,
		Health: deckv1.HealthStatus_HEALTH_STATUS_OTHER, RunningVersions: []string{"v1"},
		HealthReason: "Pod default/web: container main: ImagePullBackOff (and 1 more)"}
	second := func(width int) string {
		v := Applications{Theme: theme.New(theme.Options{NoColor: true}), List: []*deckv1.Application{app},
			Entry: func(a *deckv1.Application) Application { return Application{Application: a, Name: a.GetName()} }}
		return strings.TrimRight(ansi.Strip(strings.Split(v.Draw(width, 3), "\n")[2]), " ")
	}
	require.Equal(t, "   unhealthy · Pod default/web: container main: ImagePullBackOff (and 1 more)", second(90))
	require.Equal(t, "   unhealthy · Pod default/web: conta…", second(38))
	require.Equal(t, "   synced · unhealthy", second(24), "the version has no room either")
	app.Sync = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC
	require.Equal(t, "   out of sync · unhealthy · Pod default/w…", second(43))
	app.Sync, app.Health = deckv1.SyncStatus_SYNC_STATUS_SYNCED, deckv1.HealthStatus_HEALTH_STATUS_HEALTHY
	require.Equal(t, "   synced · healthy · v1", second(90))
}
