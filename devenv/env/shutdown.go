// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// shutdown ends the environment because a user asked for it.
func (e *Environment) shutdown(stop context.CancelCauseFunc, r *deckv1.ShutdownRequest) {
	e.mu.Lock()
	e.remove = e.remove || r.GetRemove()
	restarts := r.GetRestart() && !e.remove
	if restarts {
		e.running.ReplacedAt = time.Now()
	}
	e.mu.Unlock()
	if restarts {
		e.sayReplaced()
	}
	stop(errShutdown)
}

// sayReplaced says that another process is about to take the place of this one: in the files of the workspace, where
// clients that come later read it, and to those that are connected.
func (e *Environment) sayReplaced() {
	if err := e.publish(); err != nil {
		e.Logger.Warn("clients do not learn that another process takes the place of this one", "error", err)
	}
	e.server.SetEnvironment(e.describe())
}

// sayEnds says that the environment ends in order, before its control plane does.
func (e *Environment) sayEnds() {
	e.mu.Lock()
	e.running.Ends = true
	e.mu.Unlock()
	if err := e.publish(); err != nil {
		e.Logger.Warn("recordings may say that they are not complete", "error", err)
	}
}

// withdraw withdraws what was published. The moment counts from which clients wait for the process that takes the place
// of this one.
func (e *Environment) withdraw() error {
	var err error
	if e.replaced() {
		e.mu.Lock()
		e.running.ReplacedAt = time.Now()
		e.mu.Unlock()
		err = e.publish()
	}
	return errors.Join(err, e.Workspace.Withdraw())
}

// replaced reports whether another process is about to take the place of this one.
func (e *Environment) replaced() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.running.ReplacedAt.IsZero()
}
