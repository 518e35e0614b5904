// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"time"

	"github.com/pipedeck/pipedeck/tui/text"
)

// Status is the state of a stage.
type Status uint8

// The states of a stage.
const (
	NotStarted Status = iota
	Running
	// Waiting is a stage that waits for a person.
	Waiting
	Done
	Failed
	Skipped
	Cancelled
)

// Stage is one node of the graph.
type Stage struct {
	// ID names the stage in Needs and in the places of a picture.
	ID string
	// Name is drawn; see Name.
	Name string
	// Needs are the ids of the stages that must end before.
	Needs  []string
	Status Status
	// Start is the time from the start of the deployment, Duration the time that the stage has taken.
	Start, Duration time.Duration
	// Note is the last column of lanes. Short replaces the duration in a box, such as "1 of 2" approvals.
	Note, Short string
	// Rollback marks a stage that runs on rollback.
	Rollback bool

	kind kind
}

// kind distinguishes the stages of the author from the nodes that drawing adds.
type kind uint8

const (
	plain kind = iota
	joint
	fold
)

// IsFold reports a node that stands for several stages; see Fold.
func (s Stage) IsFold() bool { return s.kind == fold }

// Name returns how a stage is called: by its id, and without one by its type and description.
func Name(id, typ, description string) string {
	id, typ, description = text.Line(id), text.Line(typ), text.Line(description)
	switch {
	case id != "":
		return id
	case description != "":
		return typ + ": " + description
	}
	return typ
}

func (s Status) sign() rune {
	return [...]rune{'○', '●', '◆', '✓', '✗', '»', '⊘'}[s]
}

func (s Status) role() Role {
	return [...]Role{Faint, RunningRole, WaitingRole, OK, FailedRole, Dim, Dim}[s]
}

// acute reports whether the state wants to be seen.
func (s Status) acute() bool { return s == Running || s == Waiting || s == Failed }

// met reports whether the followers of a stage may start.
func (s Status) met() bool { return s == Done || s == Skipped }

// Ended reports whether a stage will not change any more.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Skipped || s == Cancelled }

// flow is the state of an edge; of a line that several edges share, the largest counts.
type flow uint8

const (
	notYet flow = iota
	passed
	active
	undo
)

func (f flow) role() Role { return [...]Role{Border, Dim, RunningRole, RollbackRole}[f] }

// weight is that of the drawn line: 1 light, 2 heavy.
func (f flow) weight() uint8 {
	if f == active {
		return 2
	}
	return 1
}

func edgeFlow(from, to Stage) flow {
	switch {
	case from.Rollback || to.Rollback:
		return undo
	case from.Status.met() && (to.Status == Running || to.Status == Waiting):
		return active
	case from.Status.met() && to.Status != Cancelled:
		return passed
	}
	return notYet
}
