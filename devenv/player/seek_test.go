// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
)

// long is a session in which so many events and lines have come, one every millisecond: 100 applications are deployed
// again and again by a deployment of eight stages, whose resources come and go.
func long(events, lines int) *sessionfile.Session {
	s := &sessionfile.Session{Header: &deckv1.SessionHeader{BeganAt: timestamppb.New(began)}}
	add := func(r *deckv1.SessionRecord) {
		r.At = durationpb.New(time.Duration(len(s.Records)) * time.Millisecond)
		s.Records = append(s.Records, r)
	}
	event := func(e *deckv1.Event) { add(&deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Event{Event: e}}) }
	event(synced())
	const applications, stages = 100, 8
	indexes := map[string]int64{}
	for i := range events {
		app, run := fmt.Sprintf("app-%d", i%applications), i/applications/20
		d := &deckv1.Deployment{Id: fmt.Sprintf("%s-%d", app, run), ApplicationId: app,
			Status: deckv1.DeploymentStatus(1 + i/applications%5)}
		for j := range stages {
			d.Stages = append(d.Stages, &deckv1.Stage{Id: fmt.Sprint(j), Name: "WAIT",
				Status: deckv1.StageStatus(1 + (i/applications+j)%4)})
		}
		if i%10 == 0 {
			live := []*deckv1.Resource{{Id: fmt.Sprint(i % 7), Name: "pod"}, {Id: fmt.Sprint(i % 11), Name: "service"}}
			add(&deckv1.SessionRecord{Kind: &deckv1.SessionRecord_Resources{Resources: &deckv1.SessionResources{
				ApplicationId: app, Response: &deckv1.WatchResourcesResponse{Complete: true, Resources: live},
			}}})
		}
		event(&deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: d}})
		for range lines / events {
			stage := fmt.Sprint(i % stages)
			key := d.GetId() + stage
			event(&deckv1.Event{Kind: &deckv1.Event_Log{Log: &deckv1.LogBlock{DeploymentId: d.GetId(), StageId: stage,
				Index: indexes[key], Text: "a line of a log that is about as long as most lines of a log are"}}})
			indexes[key]++
		}
	}
	return s
}

// seeks moves to random positions, and returns how long each move took, with what a watcher gets of it.
func seeks(p *Player, n int) (took []time.Duration) {
	random := rand.New(rand.NewPCG(1, 2))
	sent := watched{jump: -1}
	for range n {
		began := time.Now()
		p.Seek(time.Duration(random.Int64N(int64(p.session.Duration()))))
		p.changes(&sent, true)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took
}

// BenchmarkSeek prints the slowest and the median of 200 moves in a session of 10,000 events and 100,000 lines.
func BenchmarkSeek(b *testing.B) {
	p := New(long(10_000, 100_000), &handClock{})
	b.ResetTimer()
	for b.Loop() {
		took := seeks(p, 200)
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms/slowest")
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
	}
}

func BenchmarkOpen(b *testing.B) {
	session := long(10_000, 100_000)
	for b.Loop() {
		New(session, &handClock{})
	}
}

func TestALongSessionIsTheSameHoweverAPositionWasReached(t *testing.T) {
	t.Parallel()
	session := long(500, 20_000)
	moved, random := New(session, &handClock{}), rand.New(rand.NewPCG(3, 4))
	for range 20 {
		to := time.Duration(random.Int64N(int64(session.Duration())))
		moved.Seek(to)
		there := New(session, &handClock{})
		there.Seek(to)
		requireSame(t, there.state, moved.state)
	}
	require.Greater(t, len(moved.keyframes.kept), 5)
}

// requireSame requires that two states show the same.
func requireSame(t *testing.T, want, got *state) {
	t.Helper()
	require.Equal(t, want.index(), got.index())
	require.Equal(t, want.events, got.events)
	require.Equal(t, want.stages, got.stages)
}

// index is what a state has of logs and resources.
func (s *state) index() map[string][]string {
	all := map[string][]string{}
	for key, log := range s.logs {
		for _, block := range log.blocks {
			at := key.deployment + " " + key.stage
			all[at] = append(all[at], fmt.Sprint(block.GetIndex(), block.GetText()))
		}
	}
	for application, r := range s.resources {
		all[application] = slices.Sorted(maps.Keys(r.byID))
	}
	return all
}
