// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
