// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	"github.com/pipedeck/pipedeck/devenv/cluster/kind"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/system/owned"
)

// Exit codes of every subcommand.
const (
	exitOK          = 0
	exitFailed      = 1 // a deployment failed or was cancelled
	exitUsage       = 2 // wrong usage or configuration
	exitNotStarted  = 3 // the environment could not start
	exitTimedOut    = 4
	exitDegraded    = 5 // a part of the environment does not work as it should
	exitInterrupted = 130
)

// exitError ends the program with a code. Without err nothing is printed.
type exitError struct {
	code int
	err  error
	// hint is the next step for the user.
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "exit"
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(err error, hint string) error { return &exitError{exitUsage, err, hint} }

// explain gives an error of an environment its exit code and next step.
func explain(ctx context.Context, err error) error {
	var exit *exitError
	var start *env.StartError
	var repository *workspace.RepositoryError
	var config *kind.ConfigError
	var place *owned.Error
	var left *workspace.LeftError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit):
		return err
	case errors.As(err, &repository):
		return usageError(err, repository.Hint)
	case errors.As(err, &place):
		return usageError(err, place.Hint)
	case errors.As(err, &left):
		return &exitError{exitFailed, err, "move it to another directory, then run pipedeck down again"}
	case errors.Is(err, workspace.ErrLocked):
		return &exitError{exitNotStarted, err, "see it with: pipedeck attach; or choose another --name"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &exitError{exitTimedOut, errors.New("timed out"), "give more time with --timeout"}
	case ctx.Err() != nil:
		return &exitError{code: exitInterrupted}
	case exhaustion.Advice(err) != "":
		return &exitError{exitNotStarted, err, exhaustion.Advice(err)}
	case errors.As(err, &start) && errors.As(err, &config):
		return usageError(err, start.Hint)
	case errors.As(err, &start):
		return &exitError{exitNotStarted, err, start.Hint}
	default:
		return &exitError{exitNotStarted, err, "run it again; if it happens again, see the logs below the state " +
			"directory"}
	}
}
