// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTheClockOfADeploymentStandsStillWhileTheEnvironmentIsNotHeardOf(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]func(*model){
		"disconnected": func(m *model) { m.Update(disconnectedMsg{err: errors.New("connection refused")}) },
		"silent":       func(m *model) { m.Update(silentMsg{m.host.now}) },
	} {
		m := waiting(t, 100, 30)
		now := m.host.now
		m.host.clock.now = func() time.Time { return now }
		line := func() string {
			m.Update(tickMsg{})
			return ansi.Strip(m.panes.deployment.draw(80, 20, false))
		}
		before := line()
		now = now.Add(5 * time.Second)
		running := line()
		require.NotEqual(t, before, running, name)
		lost(m)
		now = now.Add(7 * time.Second)
		require.Equal(t, running, line(), name)
		m.Update(connectedMsg{deckv1.NewDeckServiceClient(nil)})
		m.receive(append(decktest.Running(), &deckv1.Synced{})...)
		require.NotEqual(t, running, line(), name)
	}
}
