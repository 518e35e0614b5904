// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"context"
	"errors"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
	"github.com/pipedeck/pipedeck/system/owned"
)

// Explain gives an error of an environment its exit code and next step.
func Explain(ctx context.Context, err error) error {
	var failure *Error
	var start *env.StartError
	var repository *workspace.RepositoryError
	var hinted *cluster.HintError
	var place *owned.Error
	var left *workspace.LeftError
	var output *OutputError
	var create *workspace.CreateError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return err
	case errors.As(err, &output):
		return output.failure()
	case errors.As(err, &repository):
		return Usage(err, repository.Hint)
	case errors.As(err, &place):
		return Usage(err, place.Hint)
	case errors.As(err, &left) && left.OnlyStates():
		return With(Failed, err, "destroy the resources, or move the states to another directory, then run pipedeck "+
			"down again")
	case errors.As(err, &left):
		return With(Failed, err, "move it to another directory, then run pipedeck down again")
	case errors.Is(err, workspace.ErrLocked):
		return With(NotStarted, err, "see it with: pipedeck attach; or choose another --name")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return With(TimedOut, errors.New("timed out"), "give more time with --timeout")
	case ctx.Err() != nil:
		return Silent(Interrupted)
	case exhaustion.Advice(err) != "":
		return With(NotStarted, err, exhaustion.Advice(err))
	case errors.As(err, &start) && errors.As(err, &hinted) && hinted.Usage:
		return Usage(err, start.Hint)
	case errors.As(err, &start):
		return With(NotStarted, err, start.Hint)
	case errors.As(err, &create):
		return With(NotStarted, err, "choose a directory that you can write to: --state-dir")
	default:
		return With(NotStarted, err, "run it again; if it happens again, see the logs below the state "+
			"directory")
	}
}
