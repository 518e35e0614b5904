// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestALookThatLastsForLongShowsItsAgeAndThatOfTheState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 27, 12, 0, 45, 0, time.UTC)
	app := &deckv1.Application{Name: "net", LookingSince: timestamppb.New(now.Add(-45 * time.Second)),
		Sync: deckv1.SyncStatus_SYNC_STATUS_SYNCED, Health: deckv1.HealthStatus_HEALTH_STATUS_HEALTHY}
	th := theme.New(theme.Options{})
	tree := func() string {
		return ansi.Strip(Resources{Theme: th, Application: app, Now: now,
			Rows: []state.TreeRow{{Resource: &deckv1.Resource{Kind: "vm", Name: "web"}}}}.Draw(80, 20))
	}
	require.Contains(t, tree(), "checking since 45s; it was not looked at before")
	app.ExaminedAt = timestamppb.New(now.Add(-10 * time.Minute))
	require.Contains(t, tree(), "checking since 45s; this is the state of 11:50:45")
	list := ansi.Strip(Applications{Theme: th, List: []*deckv1.Application{app}, Now: now,
		Entry: func(a *deckv1.Application) Application { return Application{Application: a, Name: "net"} }}.Draw(60, 6))
	require.Contains(t, list, "synced · healthy · checking 45s")
	app.LookingSince = nil
	require.NotContains(t, tree(), "checking")
}
