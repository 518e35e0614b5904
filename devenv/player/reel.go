// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Reel is a session for those who go through it step by step, without waiting for a clock: the same session has the
// same steps each time. It is used by one goroutine.
type Reel struct {
	player *Player
	sent   watched
}

// NewReel returns a session at its beginning, where its first state is complete.
func NewReel(session *sessionfile.Session) *Reel {
	p := New(session, clock.System{})
	p.Toggle() // its own clock plays no part
	p.Seek(p.begin)
	return &Reel{player: p, sent: watched{jump: -1}}
}

// Server is the deck API of the session at the present step.
func (r *Reel) Server() *Server { return NewServer(r.player) }

// Begin is the time of the beginning since that of the recording, End that of the end.
func (r *Reel) Begin() time.Duration { return r.player.begin }

// Length is how long the session is from Begin to End.
func (r *Reel) Length() time.Duration { return r.End() - r.Begin() }

// End is the time of the last record.
func (r *Reel) End() time.Duration { return r.player.session.Duration() }

// Time is the time of day at a time of the session.
func (r *Reel) Time(at time.Duration) time.Time {
	return r.player.session.Header.GetBeganAt().AsTime().Add(at)
}

// Next is the time of the next record; false at the end.
func (r *Reel) Next() (time.Duration, bool) {
	p := r.player
	if p.index == len(p.session.Records) {
		return 0, false
	}
	return p.session.Records[p.index].GetAt().AsDuration(), true
}

// Advance goes on to a time and returns what a watcher without logs gets until then; the first call also the state at
// the beginning. The events belong to the session.
func (r *Reel) Advance(to time.Duration) []*deckv1.Event {
	p := r.player
	events, _ := p.changes(&r.sent, false) // the state, when it is the first call
	p.from = min(max(p.from, to), p.session.Duration())
	if p.advance(p.from) {
		news, _ := p.changes(&r.sent, false)
		events = append(events, news...)
	}
	return events
}

// Log is the log of a stage so far. complete says that the stage has ended.
func (r *Reel) Log(deployment, stage string) (blocks []*deckv1.LogBlock, truncated, complete bool) {
	key := stageKey{deployment, stage}
	log := r.player.state.written(key)
	return log.blocks, log.truncated,
		r.player.state.stages[key].GetStatus() > deckv1.StageStatus_STAGE_STATUS_RUNNING
}

// Resources are those of an application so far, by their ids, and how they differ from those that are known. Both
// belong to the session.
func (r *Reel) Resources(application string, known map[string]*deckv1.Resource) (map[string]*deckv1.Resource,
	*deckv1.WatchResourcesResponse) {
	now, _, _ := r.player.resources(application, nil)
	return now, difference(known, now)
}
