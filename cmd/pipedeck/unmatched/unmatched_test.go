// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package unmatched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/unmatched"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestStagesAreKnownWhenEachApplicationIsPlanned(t *testing.T) {
	t.Parallel()
	d := state.New()
	require.False(t, unmatched.Settled(d))
	deployment := &deckv1.Deployment{Id: "d", ApplicationId: "a"}
	for i, e := range []*deckv1.Event{
		{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "a"}}},
		{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "by-hand", Manual: true}}},
		{Kind: &deckv1.Event_Plugin{Plugin: &deckv1.Plugin{Name: "greeter", Stages: []string{"GREET"}}}},
		{Kind: &deckv1.Event_Deployment{Deployment: deployment}},
		{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: "d", ApplicationId: "a",
			Stages: []*deckv1.Stage{{Id: "s", Name: "WAIT", ConfigId: "soak"}}}}},
	} {
		d.Apply(e)
		require.Equal(t, i == 4, unmatched.Settled(d), i)
	}
	known := unmatched.Stages(d)
	require.Equal(t, []string{"GREET", "WAIT", "soak"}, known)
	require.Equal(t, []string{
		"warning: nothing matches now: no plugin and no deployment has a stage GRET; did you mean GREET?",
		"warning: nothing matches now: no plugin and no deployment has a stage nosuch",
	}, unmatched.Warnings([]string{"GRET", "GREET", "soak", "*", "", "nosuch", "GREET_ROLLBACK", "GRET"}, known))
	require.Empty(t, unmatched.Warnings([]string{"GRET"}, unmatched.Stages(state.New())),
		"a plugin that starts may have any stage")
}
