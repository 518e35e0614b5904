// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"time"

	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

// Playback moves through a recorded session, which the client of the UI shows.
type Playback interface {
	// Position is where the session is played.
	Position() PlaybackPosition
	// Now is the time in the session.
	Now() time.Time
	// Toggle plays or pauses.
	Toggle()
	Faster()
	Slower()
	// Skip goes forward, or back by a negative time.
	Skip(by time.Duration)
	NextEvent()
	PreviousEvent()
}

// PlaybackPosition is a position in a recorded session.
type PlaybackPosition struct {
	// At is the time since the beginning, Length that of the end.
	At, Length time.Duration
	Playing    bool
	// Speed is a multiple of the time of the session.
	Speed float64
	// Missing is why the session is not complete; empty when it is.
	Missing string
}

const (
	// skipStep is what a key goes forward or back.
	skipStep = 10 * time.Second
	// playTick is the pace of the slider while a session is played.
	playTick = 250 * time.Millisecond
)

// noMove is why a key that goes forward has no effect in a recorded session; empty for keys that have one.
func noMove(m *model, action keymap.Action) string {
	play := m.host.cfg.Playback
	if play == nil || m.host.cfg.Guest != nil || action != keymap.SkipForward && action != keymap.NextEvent {
		return ""
	}
	if p := play.Position(); p.At < p.Length {
		return ""
	}
	return "this is the end of the session; " + m.host.key(keymap.PlayPause) + " begins again"
}

// brokenOff is why a recorded session that is at its end shows nothing; empty for others.
func (h *host) brokenOff() string {
	if h.cfg.Playback == nil {
		return ""
	}
	p := h.cfg.Playback.Position()
	switch {
	case p.At < p.Length:
		return ""
	case p.Missing == "":
		return "the session ends before its first state"
	}
	return "the session breaks off before its first state: " + text.Line(p.Missing)
}

// movesSession does what a key asks for in a recorded session, and reports whether it was one for that.
func movesSession(m *model, action keymap.Action) bool {
	play := m.host.cfg.Playback
	if play == nil || m.host.cfg.Guest != nil {
		return false
	}
	switch action {
	case keymap.PlayPause:
		play.Toggle()
	case keymap.Faster:
		play.Faster()
	case keymap.Slower:
		play.Slower()
	case keymap.SkipForward:
		play.Skip(skipStep)
	case keymap.SkipBack:
		play.Skip(-skipStep)
	case keymap.NextEvent:
		play.NextEvent()
	case keymap.PreviousEvent:
		play.PreviousEvent()
	default:
		return false
	}
	m.panes.log.close() // and settle opens it as it was at the position
	return true
}

// drawPlayback is the line about a recorded session; empty for an environment.
func (h *host) drawPlayback(width int) string {
	if h.cfg.Playback == nil {
		return ""
	}
	p := h.cfg.Playback.Position()
	return view.Playback{Theme: h.theme, At: p.At, Length: p.Length, Playing: p.Playing, Speed: p.Speed,
		Missing: p.Missing}.Draw(width)
}

// playing reports whether a recorded session goes on.
func (h *host) playing() bool { return h.cfg.Playback != nil && h.cfg.Playback.Position().Playing }

// localTimes is the clock of a session that is played. Its times are shown as those of an environment are, in the zone
// of the user, and not in that of the machine on which it was recorded.
func localTimes(p Playback) func() time.Time { return func() time.Time { return p.Now().Local() } }
