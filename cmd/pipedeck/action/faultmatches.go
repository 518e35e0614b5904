// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/unmatched"
)

// The states of a rule. Of what neverMatched names there is no stage yet: no plugin has one of that type, and no
// deployment that is known had one of that id.
const (
	waiting      = "waiting"
	neverMatched = "never matched"
)

// faultStates returns the states of rules by their ids.
func faultStates(s *session.State, faults []*deckv1.Fault) map[string]string {
	known, states := knownStages(s), map[string]string{}
	for _, f := range faults {
		states[f.GetId()] = waiting
		if !unmatched.Matches(f.GetStage(), known) {
			states[f.GetId()] = neverMatched
		}
	}
	return states
}

func knownStages(s *session.State) []string {
	if s == nil {
		return nil
	}
	return unmatched.Stages(s.Deck)
}

// warnOfUnmatched warns of faults and breakpoints for stages that do not exist now.
func warnOfUnmatched[T interface{ GetStage() string }](s *session.Session, named []T) {
	var stages []string
	for _, one := range named {
		stages = append(stages, one.GetStage())
	}
	for _, line := range unmatched.Warnings(stages, knownStages(s.State)) {
		fmt.Fprintln(s.Err, line)
	}
}
