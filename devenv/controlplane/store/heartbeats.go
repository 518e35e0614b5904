// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

const (
	// silentAfter is the time without a call after which a piped counts as not working. Ours reports its health every
	// 5 s; PipeCD's asks for commands every 5 s.
	silentAfter = 12 * time.Second
	// refusedFor is how long a refused call of a piped counts that was never let in: one that tries again does so
	// sooner.
	refusedFor = time.Minute
	// HeartbeatCheck is the time between two calls of Check while a piped is silent or refused, or about to count as
	// silent, quietCheck otherwise. It is less than half of silentAfter, by which a pause of this process is known.
	HeartbeatCheck = time.Second
	quietCheck     = 5 * time.Second
	// maxPipedProblems bounds the problems of one piped.
	maxPipedProblems = 100
)

// ReportHealth replaces the problems of a piped.
func (p *Pipeds) ReportHealth(pipedID string, problems []*agentv1.Problem) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(pipedID)
	if err != nil {
		return err
	}
	one.heartbeats = true
	one.earlier.forget(one.problems, p.ledger.now())
	gone := maps.Clone(one.problems)
	one.problems = map[string]struct{}{}
	for _, problem := range problems[:min(len(problems), maxPipedProblems)] {
		id := problemID(pipedID) + "/" + problem.GetPart()
		part, component := p.placeOf(pipedID, problem.GetPart())
		if problem.GetConfiguration() {
			component = "" // piped works as it should
		}
		p.environment.report(&deckv1.Problem{
			Id: id, Part: part, Component: component, Reason: problem.GetReason(), NextStep: problem.GetNextStep(),
			Since: one.earlier.of(id, problem.GetSince()), ApplicationId: problem.GetApplicationId(),
		})
		one.problems[id] = struct{}{}
		delete(gone, id)
	}
	for id := range gone {
		p.environment.ClearProblem(id)
	}
	return nil
}

// Refused notes that the credentials of a call named this piped and were refused.
func (p *Pipeds) Refused(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.byID[id]; one != nil {
		one.lastRefused = p.ledger.now()
		p.judge(one)
	}
}

// OwnStarted says which process the environment's own piped is now.
func (p *Pipeds) OwnStarted(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ownPID = pid
}

// Check looks for pipeds that make no call any more, and returns when it should be called again: a piped that makes no
// call until then counts as silent no more than HeartbeatCheck too late.
func (p *Pipeds) Check() (again time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.ledger.now()
	if now.Sub(p.checked) > silentAfter/2 {
		p.listening = now // this process did not run either, or has just started
	}
	p.checked, again = now, quietCheck
	for _, one := range p.byID {
		p.judge(one)
		p.stateChanged(one)
		again = min(again, nextCheck(one, now))
	}
	return again
}

// nextCheck is the time until a piped may have to be judged again without a call of it.
func nextCheck(one *piped, now time.Time) time.Duration {
	switch {
	case refused(one, now):
		return HeartbeatCheck
	case one.lastSeen.IsZero() || one.model.GetDisabled():
		return quietCheck
	}
	return max(HeartbeatCheck, silentAfter-now.Sub(one.lastSeen))
}

// judge makes a problem of a piped that is refused or makes no call. The caller holds p.mu.
func (p *Pipeds) judge(one *piped) {
	id := one.model.GetId()
	part, component := p.placeOf(id, "piped")
	problem := &deckv1.Problem{Id: problemID(id), Part: part, Component: component}
	switch now := p.ledger.now(); {
	case refused(one, now) && one.model.GetDisabled():
		problem.Reason = "it is disabled in the control plane, which refuses its calls (Unauthenticated)"
		problem.NextStep = "enable it with: pipectl piped enable --piped-id " + id + "; or stop it"
	case refused(one, now):
		problem.Reason = "the control plane refuses its calls (Unauthenticated): its key or project is wrong"
		problem.NextStep = "check projectID, pipedID and the piped key in its configuration, and start it again"
	case p.silent(one, now):
		problem.Reason = fmt.Sprintf("no call from it since %s: its process hangs or has ended, or the network is down",
			one.lastSeen.Local().Format(time.TimeOnly))
		problem.NextStep = "see whether its process runs and what its log says; end it if it hangs: " +
			"it goes on where it was after a start"
		if id == p.own && p.ownPID != 0 {
			problem.NextStep = fmt.Sprintf("end its process, which is started again by itself and goes on where it "+
				"was: kill -9 %d",
				p.ownPID)
		}
	default:
		p.environment.ClearProblem(problem.GetId())
		return
	}
	p.environment.report(problem)
}

// OwnProblem returns the problem of the environment's own piped that is refused or silent; nil for none. Shared: do not
// change.
func (p *Pipeds) OwnProblem() *deckv1.Problem { return p.environment.problem(problemID(p.own)) }

func refused(one *piped, now time.Time) bool {
	return one.lastRefused.After(one.lastSeen) && (!one.lastSeen.IsZero() || now.Sub(one.lastRefused) < refusedFor)
}

// silent reports whether a piped that has called before does not call any more. An older one of ours makes no calls
// while nothing happens; its connection counts.
func (p *Pipeds) silent(one *piped, now time.Time) bool {
	if one.lastSeen.IsZero() || one.model.GetDisabled() || !one.heartbeats && p.signals.connected(one.model.GetId()) {
		return false
	}
	return now.Sub(one.lastSeen) > silentAfter && now.Sub(p.listening) > silentAfter
}

func problemID(pipedID string) string { return "piped/" + pipedID }

// placeOf names a part of a piped for users, and the component it belongs to: other pipeds than the environment's own
// have none and are named. The caller holds p.mu.
func (p *Pipeds) placeOf(pipedID, part string) (name, component string) {
	if pipedID == p.own {
		return part, cmp.Or(p.environment.component(part), p.environment.component("piped"))
	}
	if part == "piped" {
		return "piped " + p.byID[pipedID].model.GetName(), ""
	}
	return part + " of piped " + p.byID[pipedID].model.GetName(), ""
}
