// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// maxBreakpoints bounds the breakpoints that are set.
const maxBreakpoints = 100

// Breakpoints returns those that are set. Shared: do not change.
func (e *Environment) Breakpoints() []*deckv1.Breakpoint {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.breakpoints
}

// ChangeBreakpoints clears breakpoints, then sets others, and notifies users and pipeds. It returns those that are set
// then. They last as long as the store. ResourceExhausted when there are too many.
func (s *Store) ChangeBreakpoints(clearAll bool, cleared, set []*deckv1.Breakpoint) ([]*deckv1.Breakpoint, error) {
	list, err := s.Environment.changeBreakpoints(clearAll, cleared, set)
	if err == nil {
		s.signals.markAll(breakpointsChanged)
		if s.Environment.onBreakpoints != nil {
			s.Environment.onBreakpoints()
		}
	}
	return list, err
}

// OnBreakpoints has a function called after each change of the breakpoints, by any goroutine. It is called before there
// are users.
func (s *Store) OnBreakpoints(changed func()) { s.Environment.onBreakpoints = changed }

func (e *Environment) changeBreakpoints(
	clearAll bool, cleared, set []*deckv1.Breakpoint,
) ([]*deckv1.Breakpoint, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.Clone(e.breakpoints)
	has := func(in []*deckv1.Breakpoint, b *deckv1.Breakpoint) bool {
		return slices.ContainsFunc(in, func(other *deckv1.Breakpoint) bool { return proto.Equal(b, other) })
	}
	list = slices.DeleteFunc(list, func(b *deckv1.Breakpoint) bool { return clearAll || has(cleared, b) })
	for _, b := range set {
		if !has(list, b) {
			list = append(list, proto.CloneOf(b))
		}
	}
	if len(list) > maxBreakpoints {
		return nil, exhausted("there are more than %d breakpoints", maxBreakpoints)
	}
	e.breakpoints = list
	if e.described != nil {
		e.described = proto.CloneOf(e.described)
		e.described.Breakpoints = list
		e.ledger.publish(Change{Environment: e.described})
	}
	return list, nil
}

// StopsAtBreakpoints reports whether a piped may stop at breakpoints: one that is connected does, or none is connected.
func (s *Store) StopsAtBreakpoints() bool {
	p := s.Pipeds
	p.mu.Lock()
	defer p.mu.Unlock()
	some := false
	for _, one := range p.inOrder() {
		if !p.signals.connected(one.model.GetId()) {
			continue
		}
		if one.able.StopsAtBreakpoints {
			return true
		}
		some = true
	}
	return !some
}
