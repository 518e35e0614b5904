// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"
	"time"
)

// filmWatch shows watchers how a recorded session is played.
type filmWatch struct {
	hub  *hub
	news <-chan struct{}
	sent Playback
	at   time.Time
}

// newFilmWatch shows how it is played now.
func newFilmWatch(h *hub) *filmWatch {
	f := &filmWatch{hub: h}
	f.look()
	return f
}

// changed is closed when there may be something to show; nil without a recorded session.
func (f *filmWatch) changed() <-chan struct{} { return f.news }

// driftSeconds is how far a position may be from where the time would have brought it until it counts as a jump.
const driftSeconds = 0.5

// look shows how the session is played, if watchers cannot know it.
func (f *filmWatch) look() {
	film := f.hub.options.Film
	if film == nil {
		return
	}
	f.news = film.Changed()
	now, at := film.Playback(), f.hub.options.Clock.Now()
	expected := f.sent.AtSeconds
	if f.sent.Playing {
		expected = min(f.sent.LengthSeconds, expected+at.Sub(f.at).Seconds()*f.sent.Speed)
	}
	if now.Playing == f.sent.Playing && now.Speed == f.sent.Speed && now.LengthSeconds == f.sent.LengthSeconds &&
		math.Abs(now.AtSeconds-expected) < driftSeconds*max(1, now.Speed) {
		return
	}
	f.sent, f.at = now, at
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.add("playback", now)
}
