// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

func connection(d time.Duration, lost string) *deckv1.SessionRecord {
	return at(d, &deckv1.Event{Time: timestamppb.New(began.Add(d)), Kind: &deckv1.Event_Connection{
		Connection: &deckv1.Connection{Lost: lost, Stopped: lost != ""}}})
}

// brokenSession is a session whose environment was killed after 5 s and started again after 10 s.
func brokenSession() *sessionfile.Session {
	return &sessionfile.Session{Header: &deckv1.SessionHeader{BeganAt: timestamppb.New(began)},
		Records: []*deckv1.SessionRecord{
			at(0, synced()),
			connection(5*time.Second, "killed"),
			connection(10*time.Second, ""),
			at(10*time.Second, &deckv1.Event{Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}}),
			at(10*time.Second, synced()),
			connection(15*time.Second, "killed"),
		}}
}

// lost is why the connection is lost at the position of a player.
func lost(p *Player) string {
	for _, event := range p.state.whole() {
		if event.GetConnection() != nil {
			return event.GetConnection().GetLost()
		}
	}
	return ""
}

func TestTheConnectionIsThatOfThePosition(t *testing.T) {
	t.Parallel()
	p := New(brokenSession(), &handClock{})
	require.Empty(t, lost(p))
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{7 * time.Second, "killed"}, {12 * time.Second, ""}, {6 * time.Second, "killed"}, {0, ""},
		{20 * time.Second, "killed"}} {
		p.Seek(c.at)
		require.Equal(t, c.want, lost(p), "at %s", c.at)
		require.Equal(t, c.want, lost(&Player{state: p.state.clone()}))
	}
}

func TestALostConnectionIsAnEventOfTheSession(t *testing.T) {
	t.Parallel()
	p := New(brokenSession(), &handClock{})
	p.Toggle()
	var stops []time.Duration
	for range 3 {
		p.NextEvent()
		stops = append(stops, p.Position().At)
	}
	require.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second}, stops)
}

func TestTheStepsOfASessionHaveItsConnection(t *testing.T) {
	t.Parallel()
	reel := NewReel(brokenSession())
	var all []string
	for to := time.Duration(0); to <= 15*time.Second; to += 5 * time.Second {
		for _, event := range reel.Advance(to) {
			if c := event.GetConnection(); c != nil {
				all = append(all, c.GetLost())
			}
		}
	}
	require.Equal(t, []string{"killed", "", "killed"}, all)
}
