// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package document

import "github.com/pipedeck/pipedeck/tui/state"

// PlannedChanges is what a plan changes at one deploy target, what is destroyed first.
type PlannedChanges struct {
	// Counts has all resources by their actions, also those that are left out.
	Counts map[string]int `json:"counts"`
	// Resources are those that change.
	Resources []PlannedResource `json:"resources"`
	// MoreResources is how many resources were left out.
	MoreResources int `json:"more_resources"`
	// Outputs are those that change.
	Outputs []PlannedOutput `json:"outputs"`
	// MoreOutputs is how many outputs were left out.
	MoreOutputs int `json:"more_outputs"`
}

// PlannedResource is a resource that changes.
type PlannedResource struct {
	// Address is that of the resource in the configuration.
	Address string `json:"address"`
	// Action is create, update, replace, destroy, forget, move or import.
	Action string `json:"action"`
	// Reason says why the resource is replaced or destroyed; empty where that is not known.
	Reason string `json:"reason"`
	// From is its address before a move; absent when it stays.
	From string `json:"from,omitempty"`
	// Fields are those that change.
	Fields []PlannedField `json:"fields"`
	// MoreFields is how many fields were left out.
	MoreFields int `json:"more_fields"`
}

// PlannedOutput is an output that changes.
type PlannedOutput struct {
	// Name is that of the output.
	Name string `json:"name"`
	// Action is create, update or destroy.
	Action string `json:"action"`
	// Before is its value as JSON; absent before it is created.
	Before string `json:"before,omitempty"`
	// After is its next value as JSON, or says that only the apply knows it; absent when it is destroyed.
	After string `json:"after,omitempty"`
	// Secret says that the values are hidden.
	Secret bool `json:"secret"`
}

// PlannedField is a field that changes.
type PlannedField struct {
	// Path is that of the field in the resource.
	Path string `json:"path"`
	// Before is its value as JSON; absent where there is none.
	Before string `json:"before,omitempty"`
	// After is its next value as JSON, or says that only the apply knows it; absent when it goes.
	After string `json:"after,omitempty"`
	// Forces says that the change of this field replaces the resource.
	Forces bool `json:"forces"`
	// Secret says that the values are hidden.
	Secret bool `json:"secret"`
}

func newPlannedChanges(changes string) *PlannedChanges {
	t := state.PlannedAt(changes)
	if t == nil {
		return nil
	}
	counts := t.Counts
	if counts == nil {
		counts = map[string]int{}
	}
	return &PlannedChanges{counts, each(t.Resources, newPlannedResource), t.MoreResources,
		each(t.Outputs, newPlannedOutput), t.MoreOutputs}
}

func newPlannedResource(r state.PlannedResource) PlannedResource {
	return PlannedResource{r.Address, r.Action, r.Reason, r.From, each(r.Fields, newPlannedField), r.MoreFields}
}

func newPlannedField(f state.PlannedField) PlannedField { return PlannedField(f) }

func newPlannedOutput(o state.PlannedOutput) PlannedOutput {
	return PlannedOutput{o.Name, o.Action, o.Field.Before, o.Field.After, o.Field.Secret}
}
