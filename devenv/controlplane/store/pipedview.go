// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"time"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
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
	// DeploysCommits says that it deploys the commits that commands name.
	DeploysCommits bool
	// Faults are those that wait to happen; TakesFaults says that it takes others while it runs.
	Faults      []*agentv1.Fault
	TakesFaults bool
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
// connection stands: its process hangs. The caller holds p.mu.
func (p *Pipeds) pipedState(one *piped) PipedState {
	switch {
	case one.model.GetDisabled():
		return PipedDisabled
	case one.lastSeen.IsZero():
		return PipedNeverConnected
	case p.silent(one, p.ledger.now()):
		return PipedDisconnected
	}
	return PipedConnected
}

// view returns a piped as users see it. Its configuration is left out: it can be long, and belongs to its owner.
// The caller holds p.mu.
func (p *Pipeds) view(one *piped) *Piped {
	m := proto.CloneOf(one.model)
	m.Config = ""
	view := &Piped{Model: m, State: p.pipedState(one), LastSeen: one.lastSeen, Own: m.GetId() == p.own,
		DeploysCommits: one.able.DeploysCommits, TakesFaults: takesFaults(p, one)}
	if view.TakesFaults {
		view.Faults = one.faults
	}
	return view
}

// changed keeps and publishes a piped. The caller holds p.mu.
func (p *Pipeds) changed(one *piped) {
	p.ledger.keep(one.record)
	one.shown = p.pipedState(one)
	p.ledger.publish(Change{Piped: p.view(one)})
}

// stateChanged publishes a piped whose state is another one than was published. The caller holds p.mu.
func (p *Pipeds) stateChanged(one *piped) {
	if p.pipedState(one) != one.shown {
		p.changed(one)
	}
}
