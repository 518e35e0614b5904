// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
)

// connection reports a change of the connection of the program that recorded a session. Programs see it as a problem of
// the environment.
func (d *Differ) connection(at time.Time, c *deckv1.Connection) []Change {
	was := d.lost
	if c.GetLost() == "" {
		if d.lost = nil; was == nil {
			return nil
		}
		return []Change{{Kind: Connection, Time: at, Connection: c, Problem: was}}
	}
	if was.GetReason() == c.GetLost() {
		return nil
	}
	d.lost = &deckv1.Problem{Id: "connection", Part: "environment", Reason: c.GetLost(),
		Since: timestamppb.New(at)}
	return []Change{{Kind: Connection, Time: at, Connection: c, Problem: d.lost}}
}

// connectionLine is the line of such a change.
func connectionLine(c Change) []string {
	if c.Connection.GetLost() == "" {
		return line("problem", c.Problem.GetPart(), document.ProblemCleared)
	}
	return line("problem", c.Problem.GetPart(), document.ProblemPresent, c.Connection.GetLost())
}

// connectionSentence is its sentence.
func connectionSentence(c Change) string {
	switch {
	case c.Connection.GetLost() == "":
		return "The environment answers again."
	case c.Connection.GetStopped():
		return sentence("The environment has stopped", c.Connection.GetLost())
	default:
		return sentence("The environment does not answer", c.Connection.GetLost())
	}
}
