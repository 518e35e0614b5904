// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// connectionMsg is a change of the connection of the program that recorded a session.
func connectionMsg(now time.Time, c *deckv1.Connection) eventsMsg {
	return eventsMsg{[]*deckv1.Event{{Time: timestamppb.New(now), Kind: &deckv1.Event_Connection{Connection: c}}}}
}

func TestARecordedSessionShowsThatItsConnectionWasLost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost           *deckv1.Connection
		header, banner string
	}{
		"killed": {&deckv1.Connection{Lost: "the process of the environment was killed", Stopped: true},
			"✗ stopped", "The environment has stopped: its process was killed."},
		"lost": {&deckv1.Connection{Lost: "the cable is out"}, "does not answer",
			"The environment is not answering, reconnecting…  (the cable is out)"},
	} {
		m := waiting(t, 120, 30)
		m.host.cfg.Playback, m.host.cfg.ReadOnly = halfway{}, "this is a recorded session"
		now := m.host.now
		m.host.clock.now = func() time.Time { return now }
		screen := func() string {
			m.Update(tickMsg{})
			return ansi.Strip(m.View().Content)
		}
		clock := func() string { return ansi.Strip(m.panes.deployment.draw(80, 20, false)) }
		require.NotContains(t, screen(), c.banner, name)
		before := clock()
		m.Update(connectionMsg(now, c.lost))
		for range 2 {
			now = now.Add(5 * time.Second)
			require.Contains(t, screen(), c.banner, name)
			require.Contains(t, screen(), c.header, name)
			require.NotContains(t, screen(), "plugins ready", name)
			require.Contains(t, screen(), "plays 2x  1:05 of 2:10", name)
			require.Equal(t, before, clock(), "%s: the clocks stand still", name)
		}
		m.Update(connectionMsg(now, &deckv1.Connection{}))
		require.NotContains(t, screen(), c.banner, name)
		require.NotEqual(t, before, clock(), name)
	}
}

func TestAJumpInARecordedSessionShowsTheConnectionOfThere(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 30)
	m.host.cfg.Playback, m.host.cfg.ReadOnly = halfway{}, "this is a recorded session"
	lost := connectionMsg(m.host.now, &deckv1.Connection{Lost: "killed", Stopped: true})
	m.receive(append([]proto.Message{&deckv1.Reset{}}, decktest.Running()...)...)
	m.Update(lost)
	m.receive(&deckv1.Synced{})
	require.True(t, m.link.stopped())
	m.receive(append(append([]proto.Message{&deckv1.Reset{}}, decktest.Running()...), &deckv1.Synced{})...)
	require.False(t, m.link.stopped(), "it was not lost there")
}

func TestAUIThatChangesNothingStartsNoEnvironmentThatWasKilled(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"", "it was opened with --read-only"} {
		m := waiting(t, 120, 30)
		m.host.cfg.ReadOnly = why
		m.host.cfg.Start = func(context.Context) error { return nil }
		m.Update(disconnectedMsg{err: ErrEnvironmentStopped})
		m.key("u")
		require.Equal(t, why == "", m.link.starting)
		if why != "" {
			require.Contains(t, m.toast.text, why)
		}
	}
}
