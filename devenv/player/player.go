// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

// Speeds are those that a user can choose, as multiples of the time of the session.
var Speeds = []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32}

// Position is where a session is played.
type Position struct {
	// At is the time since the beginning of the session, Length that of its end.
	At, Length time.Duration
	Playing    bool
	Speed      float64
}

// Player plays one session. All its methods may be called at any time from any goroutine.
type Player struct {
	session *sessionfile.Session
	clock   clock.Clock
	begin   time.Duration
	// marks are the positions at which something happens that a user may want to see.
	marks []time.Duration

	mu sync.Mutex
	// from is the position at the time since; while it plays, the position goes on from there.
	from  time.Duration
	since time.Time
	// playing and speed are what the user has chosen.
	playing bool
	speed   float64
	// state is that after the first index records; jump counts how often it was not reached by going on.
	state *state
	index int
	jump  int
	// keyframes are earlier states.
	keyframes keyframes
	// news is closed and replaced at each change of the position that is not the clock's, or of state.
	news chan struct{}
	// sought wakes Run up.
	sought chan struct{}
}

// New returns a player at the beginning of a session, where its first state is complete. It plays once Run runs.
func New(session *sessionfile.Session, c clock.Clock) *Player {
	p := &Player{session: session, clock: c, speed: 1, playing: true, state: newState(), since: c.Now(),
		news: make(chan struct{}), sought: make(chan struct{}, 1), keyframes: newKeyframes(len(session.Records))}
	for _, record := range session.Records {
		if record.GetEvent().GetSynced() != nil {
			p.begin = record.GetAt().AsDuration()
			break
		}
	}
	p.marks = marks(session.Records, p.begin)
	p.from = p.begin
	p.advance(p.begin)
	return p
}

// Run goes on with the session until ctx ends.
func (p *Player) Run(ctx context.Context) {
	for ctx.Err() == nil {
		var due <-chan time.Time
		if wait, playing := p.step(); playing {
			due = p.clock.After(wait)
		}
		select {
		case <-due:
		case <-p.sought:
		case <-ctx.Done():
		}
	}
}

// step applies what the position has passed, and returns the time until the next record. playing is false when there is
// nothing to wait for.
func (p *Player) step() (wait time.Duration, playing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at()
	if p.advance(at) {
		p.announce()
	}
	if p.index == len(p.session.Records) && at >= p.session.Duration() && p.playing {
		p.stop(at)
		p.announce()
	}
	if !p.playing || p.index == len(p.session.Records) {
		return 0, false
	}
	next := p.session.Records[p.index].GetAt().AsDuration()
	return max(0, time.Duration(float64(next-at)/p.speed)), true
}

// advance applies the records up to a position, and reports whether there were any.
func (p *Player) advance(at time.Duration) bool {
	before := p.index
	for p.index < len(p.session.Records) && p.session.Records[p.index].GetAt().AsDuration() <= at {
		p.state.apply(p.session.Records[p.index])
		p.index++
		p.keyframes.pass(p.index, p.state)
	}
	return p.index > before
}

// at is the position now.
func (p *Player) at() time.Duration {
	at := p.from
	if p.playing {
		at += time.Duration(float64(p.clock.Now().Sub(p.since)) * p.speed)
	}
	return min(at, p.session.Duration())
}

func (p *Player) stop(at time.Duration) { p.from, p.since, p.playing = at, p.clock.Now(), false }

func (p *Player) announce() {
	close(p.news)
	p.news = make(chan struct{})
}

// change changes where or how the session is played.
func (p *Player) change(f func(at time.Duration)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.at()
	p.from, p.since = at, p.clock.Now()
	f(at)
	p.announce()
	select {
	case p.sought <- struct{}{}:
	default:
	}
}

// Toggle stops, or goes on. At the end of the session it begins again.
func (p *Player) Toggle() {
	p.change(func(at time.Duration) {
		p.playing = !p.playing
		if p.playing && at >= p.session.Duration() {
			p.move(p.begin)
		}
	})
}

// Faster takes the next speed of Speeds, Slower the one before.
func (p *Player) Faster() { p.change(func(time.Duration) { p.speed = nextSpeed(p.speed, 1) }) }

// Slower is the opposite of Faster.
func (p *Player) Slower() { p.change(func(time.Duration) { p.speed = nextSpeed(p.speed, -1) }) }

func nextSpeed(speed float64, by int) float64 {
	i := sort.SearchFloat64s(Speeds, speed) + by
	return Speeds[max(0, min(i, len(Speeds)-1))]
}

// Skip moves the position by a time, which may be negative.
func (p *Player) Skip(by time.Duration) { p.change(func(at time.Duration) { p.move(at + by) }) }

// Seek moves to a position.
func (p *Player) Seek(to time.Duration) { p.change(func(time.Duration) { p.move(to) }) }

// NextEvent moves to the next time at which a deployment, a stage, a plugin, a problem or the caption of a story
// changes; to the end when there is none.
func (p *Player) NextEvent() {
	p.change(func(at time.Duration) {
		i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i] > at })
		if i == len(p.marks) {
			p.move(p.session.Duration())
			return
		}
		p.move(p.marks[i])
	})
}

// rewindSlack is how far behind an event PreviousEvent still counts as being at it, in the time of the session at speed
// 1: otherwise it would only ever go back to the event that has just been played.
const rewindSlack = 2 * time.Second

// PreviousEvent is the opposite of NextEvent.
func (p *Player) PreviousEvent() {
	p.change(func(at time.Duration) {
		if p.playing {
			at -= time.Duration(float64(rewindSlack) * p.speed)
		}
		i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i] >= at })
		if i == 0 {
			p.move(p.begin)
			return
		}
		p.move(p.marks[i-1])
	})
}

// move makes the state that of a position. Going on in small steps is no jump for watchers.
func (p *Player) move(to time.Duration) {
	to = max(p.begin, min(to, p.session.Duration()))
	if p.index > 0 && to < p.session.Records[p.index-1].GetAt().AsDuration() {
		p.state, p.index = p.keyframes.before(func(index int) bool {
			return p.session.Records[index-1].GetAt().AsDuration() <= to
		})
	}
	p.from, p.since = to, p.clock.Now()
	p.advance(to)
	p.jump++
}

// Position is where the session is played now.
func (p *Player) Position() Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Position{At: p.at() - p.begin, Length: p.session.Duration() - p.begin, Playing: p.playing, Speed: p.speed}
}

// Now is the time of the session at the position.
func (p *Player) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session.Header.GetBeganAt().AsTime().Add(p.at())
}

// Changed is closed at the next change of what Position returns, save for the time that goes on.
func (p *Player) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news
}
