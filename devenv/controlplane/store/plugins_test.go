// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// shownPlugins are the names of the plugins that a new watcher gets.
func shownPlugins(s *store.Store) (names []string) {
	sub, state := s.Subscribe(false)
	defer sub.Close()
	for _, change := range state {
		if change.Plugin != nil {
			names = append(names, change.Plugin.GetName())
		}
	}
	return names
}

func TestPluginsAreShownByNameOnlyForAPipedThatCannotReportThem(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	reportMeta(t, s, meta("/srv/repo", &model.Piped_Plugin{Name: "wait"}))
	require.Empty(t, shownPlugins(s), "it may be about to report them")

	watch, err := s.Pipeds.Watch(piped, store.Abilities{})
	require.NoError(t, err)
	s.Commands.Waiting(piped)
	require.Empty(t, shownPlugins(s), "it is notified of commands, so it is one of ours")
	watch.Close()

	s.Commands.Waiting(piped)
	require.Equal(t, []string{"wait"}, shownPlugins(s), "it polls, as PipeCD's piped does")
}

func TestThePlaceThatADebuggerKnowsStandsInPlaceOfItsName(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	shown := func() *agentv1.Plugin {
		sub, state := s.Subscribe(false)
		defer sub.Close()
		for _, change := range state {
			if change.Plugin != nil {
				return change.Plugin
			}
		}
		return nil
	}
	report := func(held bool, detail string) {
		require.NoError(t, s.Pipeds.ReportPlugins(piped, []*agentv1.Plugin{{Name: "greeter", Pid: 5, Held: held,
			State: agentv1.Plugin_STATE_RUNNING, Detail: detail}}))
	}
	report(true, "held by a debugger (dlv, pid 7): no clock runs")
	require.True(t, shown().GetHeld())

	store.SetHeldPlace(s.Pipeds, "greeter", true, "")
	require.False(t, shown().GetHeld(), "the place follows")
	store.SetHeldPlace(s.Pipeds, "greeter", true, "stage.go:57 (main.greet)")
	require.Equal(t, "held by a debugger at stage.go:57 (main.greet): no clock runs", shown().GetDetail())
	require.Equal(t, "stage.go:57 (main.greet)", shown().GetHeldAt())
	require.True(t, shown().GetHeld())

	report(false, "")
	store.SetHeldPlace(s.Pipeds, "greeter", false, "")
	require.Empty(t, shown().GetDetail())
	require.False(t, shown().GetHeld())
}
