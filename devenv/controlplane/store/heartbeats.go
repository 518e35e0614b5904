// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"maps"
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

const (
	// silentAfter is the time without a call after which a piped counts as not working. Ours reports its health every
	// 5 s; PipeCD's asks for commands every 5 s.
	silentAfter = 12 * time.Second
	// refusedFor is how long a refused call of a piped counts that was never let in: one that tries again does so sooner.
	refusedFor = time.Minute
	// HeartbeatCheck is how often CheckPipeds should be called.
	HeartbeatCheck = time.Second
	// maxPipedProblems bounds the problems of one piped.
	maxPipedProblems = 100
)

// ReportHealth replaces the problems of a piped.
func (s *Store) ReportHealth(pipedID string, problems []*agentv1.Problem) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.piped(pipedID)
	if err != nil {
		return err
	}
	p.heartbeats = true
	gone := maps.Clone(p.problems)
	p.problems = map[string]struct{}{}
	for _, problem := range problems[:min(len(problems), maxPipedProblems)] {
		id := problemID(pipedID) + "/" + problem.GetPart()
		part, component := s.placeOf(pipedID, problem.GetPart())
		s.setProblem(&deckv1.Problem{
			Id: id, Part: part, Component: component, Reason: problem.GetReason(), NextStep: problem.GetNextStep(), Since: proto.CloneOf(problem.GetSince()),
		})
		p.problems[id] = struct{}{}
		delete(gone, id)
	}
	for id := range gone {
		s.clearProblem(id)
	}
	return nil
}

// RefusedPiped notes that the credentials of a call named this piped and were refused.
func (s *Store) RefusedPiped(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pipeds[id]; p != nil {
		p.lastRefused = s.now()
		s.judgePiped(p)
	}
}

// OwnPipedStarted says which process the environment's own piped is now.
func (s *Store) OwnPipedStarted(pid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ownPID = pid
}

// CheckPipeds looks for pipeds that make no call any more. It is called every HeartbeatCheck.
func (s *Store) CheckPipeds() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.checkedPipeds) > silentAfter/2 {
		s.listening = now // this process did not run either, or has just started
	}
	s.checkedPipeds = now
	for _, p := range s.pipeds {
		s.judgePiped(p)
		s.pipedStateChanged(p)
	}
}

// judgePiped makes a problem of a piped that is refused or makes no call. The caller holds s.mu.
func (s *Store) judgePiped(p *piped) {
	id := p.model.GetId()
	part, component := s.placeOf(id, "piped")
	problem := &deckv1.Problem{Id: problemID(id), Part: part, Component: component}
	switch now := s.now(); {
	case s.refused(p, now) && p.model.GetDisabled():
		problem.Reason = "it is disabled in the control plane, which refuses its calls (Unauthenticated)"
		problem.NextStep = "enable it with: pipectl piped enable --piped-id " + id + "; or stop it"
	case s.refused(p, now):
		problem.Reason = "the control plane refuses its calls (Unauthenticated): its key or project is wrong"
		problem.NextStep = "check projectID, pipedID and the piped key in its configuration, and start it again"
	case s.silent(p, now):
		problem.Reason = fmt.Sprintf("no call from it since %s: its process hangs or has ended, or the network is down", p.lastSeen.Local().Format(time.TimeOnly))
		problem.NextStep = "see whether its process runs and what its log says; end it if it hangs: it goes on where it was after a start"
		if id == s.ownPiped && s.ownPID != 0 {
			problem.NextStep = fmt.Sprintf("end its process, which is started again by itself and goes on where it was: kill -9 %d", s.ownPID)
		}
	default:
		s.clearProblem(problem.GetId())
		return
	}
	s.setProblem(problem)
}

func (s *Store) refused(p *piped, now time.Time) bool {
	return p.lastRefused.After(p.lastSeen) && (!p.lastSeen.IsZero() || now.Sub(p.lastRefused) < refusedFor)
}

// silent reports whether a piped that has called before does not call any more. An older one of ours makes no calls
// while nothing happens; its connection counts.
func (s *Store) silent(p *piped, now time.Time) bool {
	if p.lastSeen.IsZero() || p.model.GetDisabled() || (!p.heartbeats && len(p.watches) > 0) {
		return false
	}
	return now.Sub(p.lastSeen) > silentAfter && now.Sub(s.listening) > silentAfter
}

func problemID(pipedID string) string { return "piped/" + pipedID }

// placeOf names a part of a piped for users, and the component it belongs to: other pipeds than the environment's own
// have none and are named. The caller holds s.mu.
func (s *Store) placeOf(pipedID, part string) (name, component string) {
	if pipedID == s.ownPiped {
		if component = s.componentOf(part); component == "" && s.components["piped"] != nil {
			component = "piped"
		}
		return part, component
	}
	if part == "piped" {
		return "piped " + s.pipeds[pipedID].model.GetName(), ""
	}
	return part + " of piped " + s.pipeds[pipedID].model.GetName(), ""
}
