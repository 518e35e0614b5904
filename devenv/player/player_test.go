// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

// handClock goes on when the test says so.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) After(time.Duration) <-chan time.Time { return nil }

func (c *handClock) goOn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func at(d time.Duration, event *deckv1.Event) *deckv1.SessionRecord {
	return &deckv1.SessionRecord{At: durationpb.New(d), Kind: &deckv1.SessionRecord_Event{Event: event}}
}

func synced() *deckv1.Event {
	return &deckv1.Event{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}}
}

func deployment(id string, status deckv1.DeploymentStatus) *deckv1.Event {
	return &deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: id, Status: status,
		ApplicationId: "app", Stages: []*deckv1.Stage{{Id: "s", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING}}}}}
}

func logLine(i int) *deckv1.Event {
	return &deckv1.Event{Kind: &deckv1.Event_Log{Log: &deckv1.LogBlock{DeploymentId: "d", StageId: "s",
		Index: int64(i), Text: fmt.Sprintf("line %d", i)}}}
}

// began is when the sessions of the tests began.
var began = time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)

// session has a deployment that begins after 10 s, writes a line every second, and ends after 20 s, in 30 s.
func session() *sessionfile.Session {
	s := &sessionfile.Session{Header: &deckv1.SessionHeader{BeganAt: timestamppb.New(began)}}
	add := func(r *deckv1.SessionRecord) { s.Records = append(s.Records, r) }
	add(at(0, &deckv1.Event{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: "app"}}}))
	add(at(0, synced()))
	add(at(10*time.Second, deployment("d", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING)))
	for i := range 9 {
		add(at(time.Duration(11+i)*time.Second, logLine(i)))
	}
	add(at(20*time.Second, deployment("d", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS)))
	add(&deckv1.SessionRecord{At: durationpb.New(30 * time.Second),
		Kind: &deckv1.SessionRecord_End{End: &deckv1.SessionEnd{}}})
	return s
}

func play(t *testing.T) (*Player, *handClock) {
	t.Helper()
	c := &handClock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	return New(session(), c), c
}

func (p *Player) lines() int { return len(p.state.log(stageKey{"d", "s"}).blocks) }

func TestASessionGoesOnWithTheClockAtItsSpeed(t *testing.T) {
	t.Parallel()
	p, c := play(t)
	wait, playing := p.step()
	require.True(t, playing)
	require.Equal(t, 10*time.Second, wait)
	c.goOn(12 * time.Second)
	p.step()
	require.Equal(t, 2, p.lines())
	require.Equal(t, began.Add(12*time.Second), p.Now(), "the clock of the session, not that of the player")

	p.Faster()
	c.goOn(3 * time.Second)
	p.step()
	require.Equal(t, Position{At: 18 * time.Second, Length: 30 * time.Second, Playing: true, Speed: 2}, p.Position())

	p.Toggle()
	c.goOn(time.Hour)
	_, playing = p.step()
	require.False(t, playing, "nothing to wait for")
	require.Equal(t, 18*time.Second, p.Position().At)

	p.Toggle()
	c.goOn(time.Hour)
	p.step()
	require.Equal(t, Position{At: 30 * time.Second, Length: 30 * time.Second, Speed: 2}, p.Position(),
		"it stops at the end")
	p.Toggle()
	require.Equal(t, time.Duration(0), p.Position().At, "and begins again")
	require.Zero(t, p.lines())
}

func TestTheStateAtAPositionIsTheSameHoweverItWasReached(t *testing.T) {
	t.Parallel()
	p, _ := play(t)
	for _, to := range []time.Duration{25 * time.Second, 14 * time.Second, 5 * time.Second, 14 * time.Second} {
		p.Seek(to)
	}
	there, _ := play(t)
	there.Seek(14 * time.Second)
	require.Equal(t, there.state.whole(), p.state.whole())
	require.Equal(t, 4, p.lines())
	p.Seek(-time.Hour)
	require.Zero(t, p.Position().At)
	p.Seek(time.Hour)
	require.Equal(t, 30*time.Second, p.Position().At)
}

func TestAUserJumpsFromEventToEvent(t *testing.T) {
	t.Parallel()
	p, _ := play(t)
	p.Toggle()
	var stops []time.Duration
	for range 3 {
		p.NextEvent()
		stops = append(stops, p.Position().At)
	}
	require.Equal(t, []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}, stops)
	p.PreviousEvent()
	require.Equal(t, 20*time.Second, p.Position().At)
	p.PreviousEvent()
	p.PreviousEvent()
	require.Zero(t, p.Position().At)
}

func TestTheSpeedsEnd(t *testing.T) {
	t.Parallel()
	p, _ := play(t)
	for range 20 {
		p.Faster()
	}
	require.InEpsilon(t, 32.0, p.Position().Speed, 0)
	for range 20 {
		p.Slower()
	}
	require.InEpsilon(t, 0.25, p.Position().Speed, 0)
}

func TestADeckThatFellBehindWhileRecordedIsWhole(t *testing.T) {
	t.Parallel()
	s := newState()
	apply := func(events ...*deckv1.Event) {
		for _, e := range events {
			s.apply(at(0, e))
		}
	}
	apply(deployment("old", 1), deployment("d", 1), synced(), logLine(0), logLine(1))
	apply(&deckv1.Event{Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}}, deployment("d", 2), logLine(0),
		logLine(1))
	require.Len(t, s.whole(), 2, "what was there stays until the state is whole again")
	apply(logLine(2), synced())
	require.Len(t, s.whole(), 1)
	require.Len(t, s.log(stageKey{"d", "s"}).blocks, 3, "no line twice")
}
