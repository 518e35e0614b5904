// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
)

// Piped is a piped with what the store knows besides the model. Shared: do not change.
type Piped struct {
	Model *model.Piped
	State PipedState
	// LastSeen is the time of its last call; zero when it never called.
	LastSeen time.Time
	// Own says that the environment started it.
	Own bool
}

// PipedState says how a piped stands to the control plane.
type PipedState int

// The states of a piped.
const (
	PipedNeverConnected PipedState = iota + 1
	PipedConnected
	PipedDisconnected
	PipedDisabled
)

// pipedState returns the state of a piped. One that makes no call for silentAfter is disconnected, also when its
// connection stands: its process hangs. The caller holds s.mu.
func (s *Store) pipedState(p *piped) PipedState {
	switch {
	case p.model.GetDisabled():
		return PipedDisabled
	case p.lastSeen.IsZero():
		return PipedNeverConnected
	case s.silent(p, s.now()):
		return PipedDisconnected
	}
	return PipedConnected
}

// pipedView returns a piped as users see it. Its configuration is left out: it can be long, and belongs to its owner.
// The caller holds s.mu.
func (s *Store) pipedView(p *piped) *Piped {
	m := proto.CloneOf(p.model)
	m.Config = ""
	return &Piped{Model: m, State: s.pipedState(p), LastSeen: p.lastSeen, Own: m.GetId() == s.ownPiped}
}

// publishPiped publishes a piped. The caller holds s.mu.
func (s *Store) publishPiped(p *piped) {
	p.shown = s.pipedState(p)
	s.publish(Change{Piped: s.pipedView(p)})
}

// pipedStateChanged publishes a piped whose state is another one than was published. The caller holds s.mu.
func (s *Store) pipedStateChanged(p *piped) {
	if s.pipedState(p) != p.shown {
		s.publishPiped(p)
	}
}
