// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
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
	// Cause is the part whose problem explains this one: while it has a problem, this one is not shown. Empty for none.
	Cause string
}

// PartDisk is the part whose problem says that the disk of the environment is full.
const PartDisk = "disk"

// Texts of problems are cut to these lengths, in bytes: they are shown on one line.
const (
	maxReason   = 2 << 10
	maxNextStep = 1 << 10
	maxPart     = 200
)

// noNextStep is shown for a problem that brings no next step.
const noNextStep = "read the logs below the environment's state directory"

// SetProblem marks the environment as degraded, until ClearProblem. The same part set again keeps its time.
func (e *Environment) SetProblem(p Problem) {
	e.mu.Lock()
	defer e.mu.Unlock()
	component := cmp.Or(p.Component, e.componentOf(p.Part))
	e.causes[p.Part] = p.Cause
	e.setProblem(&deckv1.Problem{Id: p.Part, Part: p.Part, Reason: p.Reason, NextStep: p.NextStep,
		Component: component})
}

// ClearProblem removes the problem of a part, if there is one.
func (e *Environment) ClearProblem(part string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clearProblem(part)
}

// Problems returns the present problems, the oldest first, without those that another one explains. None means that
// nothing is degraded.
func (e *Environment) Problems() []*deckv1.Problem {
	e.mu.Lock()
	defer e.mu.Unlock()
	return sortedProblems(e.shown)
}

func (e *Environment) problem(id string) *deckv1.Problem {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.problems[id]
}

// report is setProblem for other parts of the store.
func (e *Environment) report(p *deckv1.Problem) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.setProblem(p)
}

// setProblem adds or replaces the problem with p's id. A time that is not set is taken from the one it replaces, or is
// now. Beyond the limit a problem is dropped: the environment is degraded already. The caller holds e.mu.
func (e *Environment) setProblem(p *deckv1.Problem) {
	before := e.problems[p.GetId()]
	if before == nil && len(e.problems) >= e.ledger.limits.Problems {
		return
	}
	p.Part, p.Reason = oneLine(p.GetPart(), maxPart), oneLine(e.ledger.withFlags(p.GetReason()), maxReason)
	p.NextStep = cmp.Or(oneLine(e.ledger.withFlags(p.GetNextStep()), maxNextStep), noNextStep)
	switch {
	case p.Since != nil:
	case before != nil:
		p.Since = before.GetSince()
	default:
		p.Since = timestamppb.New(e.ledger.now())
	}
	if proto.Equal(before, p) {
		return
	}
	e.problems[p.GetId()] = p
	e.showProblems()
}

// clearProblem removes a problem, if there is one of that id. The caller holds e.mu.
func (e *Environment) clearProblem(id string) {
	if e.problems[id] == nil {
		return
	}
	delete(e.problems, id)
	delete(e.causes, id)
	e.showProblems()
}

// failureOf is the id of the problem that a failed component is.
func failureOf(component string) string { return "component/" + component }

func sortedProblems(problems map[string]*deckv1.Problem) []*deckv1.Problem {
	return sorted(problems, func(a, b *deckv1.Problem) int {
		return cmp.Or(a.GetSince().AsTime().Compare(b.GetSince().AsTime()), cmp.Compare(a.GetId(), b.GetId()))
	})
}

// oneLine joins the lines of a text and cuts it to at most limit bytes.
func oneLine(text string, limit int) string {
	joined := ""
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		switch line = strings.TrimSpace(line); {
		case line == "" || len(joined) > limit:
		case joined == "":
			joined = line
		case strings.HasSuffix(joined, ":"): // it announces the line
			joined += " " + line
		default:
			joined += "; " + line
		}
	}
	return strings.ToValidUTF8(joined[:min(len(joined), limit)], "")
}
