// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// ending is how an environment ends, and what it says about that.
type ending struct{ env *Environment }

// shutdown ends the environment because a user asked for it.
func (e ending) shutdown(stop context.CancelCauseFunc, r *deckv1.ShutdownRequest) {
	e.env.mu.Lock()
	e.env.remove = e.env.remove || r.GetRemove()
	restarts := r.GetRestart() && !e.env.remove
	if restarts {
		e.env.running.ReplacedAt = time.Now()
	}
	e.env.mu.Unlock()
	if restarts {
		e.sayReplaced()
	}
	stop(errShutdown)
}

// sayReplaced says that another process is about to take the place of this one: in the files of the workspace, where
// clients that come later read it, and to those that are connected.
func (e ending) sayReplaced() {
	if err := e.env.publish(); err != nil {
		e.env.Logger.Warn("clients do not learn that another process takes the place of this one", "error", err)
	}
	e.env.server.SetEnvironment(e.env.describe())
}

// sayEnds says that the environment ends in order, before its control plane does.
func (e ending) sayEnds() {
	e.env.mu.Lock()
	e.env.running.Ends = true
	e.env.mu.Unlock()
	if err := e.env.publish(); err != nil {
		e.env.Logger.Warn("recordings may say that they are not complete", "error", err)
	}
}

// withdraw withdraws what was published. The moment counts from which clients wait for the process that takes the place
// of this one.
func (e ending) withdraw() error {
	if e.replaced() {
		e.env.mu.Lock()
		e.env.running.ReplacedAt = time.Now()
		e.env.mu.Unlock()
		if err := e.env.publish(); err != nil {
			e.env.Logger.Warn("clients may wait for too short a time for the next process", "error", err)
		}
	}
	return e.env.Workspace.Withdraw()
}

// replaced reports whether another process is about to take the place of this one.
func (e ending) replaced() bool {
	e.env.mu.Lock()
	defer e.env.mu.Unlock()
	return !e.env.running.ReplacedAt.IsZero()
}
