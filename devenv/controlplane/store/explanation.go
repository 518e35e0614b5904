// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"strings"
	"syscall"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// showProblems publishes what has changed in the list that users see: all problems but those that another one explains.
// The caller holds e.mu.
func (e *Environment) showProblems() {
	before, host := e.shown, map[string]*deckv1.Problem{}
	for id, p := range e.problems {
		if id == p.GetPart() { // set by SetProblem
			host[id] = p
		}
	}
	e.shown = map[string]*deckv1.Problem{}
	for id, p := range e.problems {
		if !e.isExplained(p, host) {
			e.shown[id] = p
		}
	}
	components := map[string]bool{}
	for _, p := range sortedProblems(before) {
		if e.shown[p.GetId()] == nil {
			e.ledger.publish(Change{RemovedProblem: p.GetId()})
		}
		if e.shown[p.GetId()] != p {
			components[p.GetComponent()] = true
		}
	}
	for _, p := range sortedProblems(e.shown) {
		if before[p.GetId()] != p {
			e.ledger.publish(Change{Problem: p})
			components[p.GetComponent()] = true
		}
	}
	for _, component := range slices.Sorted(maps.Keys(components)) {
		e.publishComponent(component)
	}
}

// isExplained reports whether a problem only follows from another one: from its cause, or because the environment's own
// piped sees the same part fail, cannot write to the full disk, or passes on the reason for which the control plane
// refused a call. host are the problems of SetProblem. The caller holds e.mu.
func (e *Environment) isExplained(p *deckv1.Problem, host map[string]*deckv1.Problem) bool {
	if cause := e.causes[p.GetId()]; cause != p.GetId() && host[cause] != nil {
		return true
	}
	part, own := strings.CutPrefix(p.GetId(), problemID(e.ownPiped)+"/")
	if !own {
		return false
	}
	if host[part] != nil || host[PartDisk] != nil && strings.Contains(p.GetReason(), syscall.ENOSPC.Error()) {
		return true
	}
	for _, h := range host {
		if strings.Contains(p.GetReason(), h.GetReason()) && h.GetReason() != "" {
			return true
		}
	}
	return false
}
