// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import "time"

const (
	// heartbeat is how often the server is asked to send something while nothing changes.
	heartbeat = 2 * time.Second
	// silenceLimit is how long a stream may be silent until the screen says so: two heartbeats and some room.
	silenceLimit = 4500 * time.Millisecond
	// recovery is what this process gets to read what has come while it was stopped itself.
	recovery = time.Second
)

// silentMsg: nothing has come on the stream since that time, not even the heartbeat.
type silentMsg struct{ since time.Time }

// silence notices that a stream is silent.
type silence struct {
	clock clock
	// last is when a message came, or the stream began.
	last time.Time
	// begun: the server has sent something. beating: it has sent a heartbeat; older versions send none.
	begun, beating bool
	// noticed: the silence was reported, and nothing has come since.
	noticed bool
	// due fires at the time at; nil while nothing is to be noticed.
	due <-chan time.Time
	at  time.Time
}

func newSilence(clock clock) *silence {
	s := &silence{clock: clock, last: clock.now()}
	s.wait(silenceLimit)
	return s
}

func (s *silence) wait(d time.Duration) { s.at, s.due = s.clock.now().Add(d), s.clock.after(d) }

// hear takes a message; beat says that it is a heartbeat. It reports whether a noticed silence ends.
func (s *silence) hear(beat bool) (ended bool) {
	ended = s.noticed
	s.begun, s.beating = true, s.beating || beat
	s.last, s.noticed = s.clock.now(), false
	if s.due == nil {
		s.wait(silenceLimit)
	}
	return ended
}

// look takes the end of a wait and reports whether the stream has become silent.
func (s *silence) look() bool {
	now := s.clock.now()
	quiet := now.Sub(s.last)
	switch {
	case now.Sub(s.at) > recovery:
		s.wait(recovery) // this process was stopped: what has come meanwhile is read first
	case quiet < silenceLimit:
		s.wait(silenceLimit - quiet)
	case s.begun && !s.beating:
		s.wait(silenceLimit)
	default:
		s.due, s.noticed = nil, true
		return true
	}
	return false
}
