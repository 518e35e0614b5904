// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package breakpoint

import (
	"log/slog"
	"slices"
	"sync"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// Set holds breakpoints: its own, and those of the control plane. Its methods may be called on nil, which has none, and
// from any goroutine.
type Set struct {
	own []*agentv1.Breakpoint
	// goesOn reports whether the control plane has a way to go on after a breakpoint.
	goesOn func() bool
	logger *slog.Logger
	warn   sync.Once

	mu    sync.Mutex
	given []*agentv1.Breakpoint
}

// NewSet returns a Set with separate breakpoints. It stops only while goesOn reports that the control plane has a way
// to go on.
func NewSet(own []*agentv1.Breakpoint, goesOn func() bool, logger *slog.Logger) *Set {
	return &Set{own: own, goesOn: goesOn, logger: logger}
}

// Replace takes all breakpoints of the control plane. Those over Max are dropped.
func (s *Set) Replace(given []*agentv1.Breakpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = slices.Clone(given[:min(len(given), Max)])
}

// Stops reports whether a deployment of an application stops at a stage, which has one of the names.
func (s *Set) Stops(when agentv1.Breakpoint_When, application string, names ...string) bool {
	if s == nil {
		return false
	}
	fits := func(b *agentv1.Breakpoint) bool { return Fits(b, when, application, names...) }
	s.mu.Lock()
	given := s.given
	s.mu.Unlock()
	if !slices.ContainsFunc(s.own, fits) && !slices.ContainsFunc(given, fits) {
		return false
	}
	if s.goesOn() {
		return true
	}
	s.warn.Do(func() {
		s.logger.Warn("breakpoints are ignored: the control plane has no way to go on after one", "variable", Variable)
	})
	return false
}

// Fits reports whether a breakpoint is for a stage of an application. The stage has one of the names.
func Fits(b *agentv1.Breakpoint, when agentv1.Breakpoint_When, application string, names ...string) bool {
	return b.GetWhen() == when && (b.GetApplication() == "" || b.GetApplication() == application) &&
		(b.GetStage() == Every || slices.Contains(names, b.GetStage()))
}
