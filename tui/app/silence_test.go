// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// handClock is a clock that a test moves.
type handClock struct {
	mu    sync.Mutex
	time  time.Time
	waits map[chan time.Time]time.Time
}

func newHandClock() *handClock {
	return &handClock{time: decktest.Now(), waits: map[chan time.Time]time.Time{}}
}

func (c *handClock) clock() clock { return clock{now: c.now, after: c.after} }

func (c *handClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *handClock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := make(chan time.Time, 1)
	c.waits[due] = c.time.Add(d)
	return due
}

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
	for due, at := range c.waits {
		if !at.After(c.time) {
			due <- c.time
			delete(c.waits, due)
		}
	}
}

// passUntil lets time pass in steps of half a second until the screen shows the text.
func (c *handClock) passUntil(s *terminal, text string) {
	s.t.Helper()
	for range 200 {
		c.pass(500 * time.Millisecond)
		s.settled()
		s.mu.Lock()
		seen := strings.Contains(s.screen.String(), text)
		s.mu.Unlock()
		if seen {
			return
		}
	}
	s.seesText(text)
}

func TestAServerThatHangsIsNotShownAsReady(t *testing.T) {
	t.Parallel()
	server, hand := decktest.Start(t), newHandClock()
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 120, 40, seams{clock: hand.clock()})
	s.seesText("5 parts, 4 plugins ready", "press a to approve")
	server.Beat()
	s.settled()
	hand.passUntil(s, "no answer for")
	s.losesText("plugins ready")
	s.seesText("its process hangs or is stopped")
	hand.passUntil(s, "! no answer for 40s")
	s.types("a")
	s.settled()
	require.Empty(t, server.Calls, "what the server does when it goes on must not surprise")

	server.Beat()
	s.seesText("5 parts, 4 plugins ready")
	s.losesText("no answer")
	s.types("a")
	require.IsType(t, &deckv1.ApproveStageRequest{}, call(t, server))
}

func TestAServerThatNeverAnswersIsReported(t *testing.T) {
	t.Parallel()
	hand := newHandClock()
	heard := newSilence(hand.clock())
	hand.pass(silenceLimit)
	<-heard.due
	require.True(t, heard.look(), "before its first message")
	m := still(t)
	m.size(80, 24)
	m.Update(silentMsg{m.host.clock.now().Add(-7 * time.Second)})
	require.Contains(t, m.View().Content, "the environment has not answered for 7s")
}

func TestSilenceIsTheTimeSinceTheLastMessage(t *testing.T) {
	t.Parallel()
	hand := newHandClock()
	s := newSilence(hand.clock())
	look := func() bool { <-s.due; return s.look() }

	require.False(t, s.hear(false))
	hand.pass(silenceLimit)
	require.False(t, look(), "a server that sends no heartbeats says nothing by its silence")
	hand.pass(silenceLimit)
	require.False(t, look())

	hand.pass(heartbeat)
	require.False(t, s.hear(true))
	hand.pass(silenceLimit - heartbeat)
	require.False(t, look(), "the last heartbeat is younger")
	hand.pass(heartbeat)
	require.True(t, look())
	require.Nil(t, s.due, "a silence is noticed once")
	require.True(t, s.hear(true), "and its end")

	hand.pass(time.Hour)
	require.False(t, look(), "this process was stopped, the server was not")
	require.False(t, s.hear(true))
}

func TestTheHeaderOfASilentEnvironmentWarnsAtEverySize(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 6}, {60, 20}, {72, 20}, {120, 40}} {
		m := waiting(t, size[0], size[1])
		m.Update(silentMsg{m.host.clock.now().Add(-12 * time.Second)})
		screen := m.View().Content
		require.Contains(t, strings.ToLower(screen), "no answer for 12s", size)
		require.NotContains(t, screen, "ready", size)
		m.Update(eventsMsg{})
		require.NotContains(t, m.View().Content, "o answer for", size)
	}
}
