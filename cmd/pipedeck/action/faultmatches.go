// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"fmt"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/system/spelling"
	"github.com/pipedeck/pipedeck/tui/text"
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
		if len(known) > 0 && !fault.Known(f.GetStage(), known) {
			states[f.GetId()] = neverMatched
		}
	}
	return states
}

// knownStages are the types that plugins have, and the types and ids in deployments; none while no plugin runs, which
// may have any.
func knownStages(s *session.State) (known []string) {
	if s == nil {
		return nil
	}
	for _, plugin := range s.Plugins() {
		known = append(known, plugin.GetStages()...)
	}
	if len(known) == 0 {
		return nil
	}
	for _, d := range s.AllDeployments() {
		for _, stage := range d.GetStages() {
			known = append(known, stage.GetName())
			if stage.GetConfigId() != "" {
				known = append(known, stage.GetConfigId())
			}
		}
	}
	return known
}

// warnOfUnmatched warns of rules for stages that do not exist now: they may come, or the name is misspelt.
func warnOfUnmatched(s *session.Session, faults []*deckv1.Fault) {
	states := faultStates(s.State, faults)
	for _, f := range faults {
		if states[f.GetId()] != neverMatched {
			continue
		}
		near := ""
		if name := spelling.Nearest(f.GetStage(), knownStages(s.State)); name != "" {
			near = "; did you mean " + name + "?"
		}
		fmt.Fprintf(s.Err, "warning: nothing matches now: no plugin and no deployment has a stage %s%s\n",
			text.Line(f.GetStage()), near)
		return // the same rule at each piped
	}
}
