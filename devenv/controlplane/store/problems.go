// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Problem is a cause why a part of the environment does not work as it should.
type Problem struct {
	// Part names what does not work ("kubernetes", "history"). It is unique among the problems of SetProblem.
	Part string
	// Reason says in one line what does not work and why. NextStep is the command or action that fixes it.
	Reason, NextStep string
	// Component is the component that the problem degrades. Empty means the one that the part is named for, if any.
	Component string
}

// Texts of problems are cut to these lengths, in bytes: they are shown on one line.
const (
	maxReason   = 2 << 10
	maxNextStep = 1 << 10
	maxPart     = 200
)

// noNextStep is shown for a problem that brings no next step of its own.
const noNextStep = "read the logs below the environment's state directory"

// SetProblem marks the environment as degraded, until ClearProblem. The same part set again keeps its time.
func (s *Store) SetProblem(p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	component := cmp.Or(p.Component, s.componentOf(p.Part))
	s.setProblem(&deckv1.Problem{Id: p.Part, Part: p.Part, Reason: p.Reason, NextStep: p.NextStep, Component: component})
}

// ClearProblem removes the problem of a part, if there is one.
func (s *Store) ClearProblem(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clearProblem(part)
}

// Problems returns the present problems, the oldest first. None means that nothing is degraded.
func (s *Store) Problems() []*deckv1.Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sortedProblems()
}

// setProblem adds or replaces the problem with p's id. A time that is not set is taken from the one it replaces, or is
// now. Beyond the limit a problem is dropped: the environment is degraded already. The caller holds s.mu.
func (s *Store) setProblem(p *deckv1.Problem) {
	before := s.problems[p.GetId()]
	if before == nil && len(s.problems) >= s.limits.Problems {
		return
	}
	p.Part, p.Reason = oneLine(p.GetPart(), maxPart), oneLine(p.GetReason(), maxReason)
	p.NextStep = cmp.Or(oneLine(p.GetNextStep(), maxNextStep), noNextStep)
	switch {
	case p.Since != nil:
	case before != nil:
		p.Since = before.GetSince()
	default:
		p.Since = timestamppb.New(s.now())
	}
	if proto.Equal(before, p) {
		return
	}
	s.problems[p.GetId()] = p
	s.publish(Change{Problem: p})
	if before != nil && before.GetComponent() != p.GetComponent() {
		s.publishComponent(before.GetComponent())
	}
	s.publishComponent(p.GetComponent())
}

// clearProblem removes a problem, if there is one of that id. The caller holds s.mu.
func (s *Store) clearProblem(id string) {
	p := s.problems[id]
	if p == nil {
		return
	}
	delete(s.problems, id)
	s.publish(Change{RemovedProblem: id})
	s.publishComponent(p.GetComponent())
}

// failureOf is the id of the problem that a failed component is.
func failureOf(component string) string { return "component/" + component }

// judgeComponent makes a problem of a component that failed, until it is ready or stopped. The caller holds s.mu.
func (s *Store) judgeComponent(c *deckv1.Component) {
	switch c.GetState() {
	case deckv1.Component_STATE_FAILED:
		s.setProblem(&deckv1.Problem{
			Id: failureOf(c.GetName()), Part: c.GetName(), Component: c.GetName(), Reason: c.GetDetail(), NextStep: c.GetHint(),
		})
	case deckv1.Component_STATE_READY, deckv1.Component_STATE_STOPPED:
		s.clearProblem(failureOf(c.GetName()))
	}
}

// publishComponent publishes a component whose problems have changed. The caller holds s.mu.
func (s *Store) publishComponent(name string) {
	if c := s.components[name]; c != nil {
		s.publish(Change{Component: s.componentView(c)})
	}
}

// componentView is a component as users see it: one that runs and has a problem is degraded. The caller holds s.mu.
func (s *Store) componentView(c *deckv1.Component) *deckv1.Component {
	if c.GetState() != deckv1.Component_STATE_READY && c.GetState() != deckv1.Component_STATE_STARTING {
		return c
	}
	for _, p := range s.sortedProblems() {
		if p.GetComponent() == c.GetName() && p.GetId() != failureOf(c.GetName()) {
			c = proto.CloneOf(c)
			c.State, c.Detail, c.Hint, c.Done, c.Total = deckv1.Component_STATE_DEGRADED, p.GetReason(), p.GetNextStep(), 0, 0
			return c
		}
	}
	return c
}

// componentOf is the component that a part is named for: "repository" for "repository sample", "plugin wait" for
// "plugin wait" where the environment builds it. Empty for none. The caller holds s.mu.
func (s *Store) componentOf(part string) (component string) {
	for name := range s.components {
		if (part == name || strings.HasPrefix(part, name+" ")) && len(name) > len(component) {
			component = name
		}
	}
	return component
}

func (s *Store) sortedProblems() []*deckv1.Problem {
	return sorted(s.problems, func(a, b *deckv1.Problem) int {
		return cmp.Or(a.GetSince().AsTime().Compare(b.GetSince().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
}

// oneLine joins the lines of a text and cuts it to at most limit bytes.
func oneLine(text string, limit int) string {
	lines := slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), func(line string) bool {
		return strings.TrimSpace(line) == ""
	})
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	text = strings.Join(lines, "; ")
	if len(text) > limit {
		text = text[:limit]
	}
	return strings.ToValidUTF8(text, "")
}
