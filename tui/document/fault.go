// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"

// Faults is the document of pipedeck fault add, list and clear.
type Faults struct {
	Head
	// Faults are the rules that were added, wait or were removed.
	Faults []Fault `json:"faults"`
}

// Fault is a rule for faults that happen on purpose.
type Fault struct {
	// ID identifies the rule.
	ID string `json:"id"`
	// Rule is what of it has not happened yet.
	Rule string `json:"rule"`
	// Stage is the type or the id of the stage that it is for; empty for every stage, and for the control plane.
	Stage string `json:"stage"`
	// ApplicationID is the only application that it is for; empty for all.
	ApplicationID string `json:"application_id"`
	// PipedID is the piped that has it happen.
	PipedID string `json:"piped_id"`
	// State is "waiting", or "never matched" when no plugin has a stage of that type and no known deployment has one
	// of that id.
	State string `json:"state"`
}

// NewFaults returns the document of rules, whose states are given by their ids.
func NewFaults(faults []*deckv1.Fault, states map[string]string) Faults {
	return Faults{NewHead(), each(faults, func(f *deckv1.Fault) Fault {
		return Fault{f.GetId(), f.GetRule(), f.GetStage(), f.GetApplicationId(), f.GetPipedId(),
			states[f.GetId()]}
	})}
}
