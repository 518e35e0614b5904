// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

func caption(text, awaits string) *deckv1.Event {
	return &deckv1.Event{Kind: &deckv1.Event_Caption{Caption: &deckv1.Caption{Text: text, Awaits: awaits}}}
}

// narratedSession is that of session with captions after 5 s and after 15 s.
func narratedSession() *sessionfile.Session {
	s := session()
	for _, record := range []*deckv1.SessionRecord{
		at(5*time.Second, caption("A commit deploys.", "app SUCCESS")),
		at(12*time.Second, caption("A commit deploys.", "")),
		at(15*time.Second, caption("It writes a log.", "")),
	} {
		i, _ := slices.BinarySearchFunc(s.Records, record, func(a, b *deckv1.SessionRecord) int {
			return int(a.GetAt().AsDuration() - b.GetAt().AsDuration())
		})
		s.Records = slices.Insert(s.Records, i, record)
	}
	return s
}

// said is the caption at the position of a player.
func said(p *Player) string {
	for _, event := range p.state.whole() {
		if event.GetCaption() != nil {
			return event.GetCaption().GetText()
		}
	}
	return ""
}

func TestTheCaptionIsThatOfThePosition(t *testing.T) {
	t.Parallel()
	p := New(narratedSession(), &handClock{})
	require.Empty(t, said(p))
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{16 * time.Second, "It writes a log."}, {6 * time.Second, "A commit deploys."}, {0, ""},
		{30 * time.Second, "It writes a log."}} {
		p.Seek(c.at)
		require.Equal(t, c.want, said(p), "at %s", c.at)
	}
}

func TestANewCaptionIsAnEventOfTheSession(t *testing.T) {
	t.Parallel()
	p := New(narratedSession(), &handClock{})
	p.Toggle()
	var stops []time.Duration
	for range 5 {
		p.NextEvent()
		stops = append(stops, p.Position().At)
	}
	require.Equal(t, []time.Duration{5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second,
		30 * time.Second}, stops, "what a caption awaits is no event: its coming is")
}
