// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestErrorsOfAnEnvironmentHaveTheirExitCodes(t *testing.T) {
	t.Parallel()
	running := context.Background()
	interrupted, cancel := context.WithCancel(running)
	cancel()
	late, cancel := context.WithDeadline(running, time.Unix(0, 0))
	defer cancel()
	start := &env.StartError{Component: "piped", Err: errors.New("no port"), Hint: "free one"}
	directory := (&workspace.Workspace{Name: "x", Dir: "no\x00directory"}).Create()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		code int
	}{
		"could not start": {running, fmt.Errorf("up: %w", start), NotStarted},
		"kind's file is wrong": {running,
			&env.StartError{Err: &cluster.HintError{Err: errors.New("kind.yaml: is empty"), Usage: true}}, WrongUsage},
		"runs already":                 {running, workspace.ErrLocked, NotStarted},
		"repository cannot be watched": {running, &env.StartError{Err: &workspace.RepositoryError{}}, WrongUsage},
		"its own code wins":            {interrupted, Usage(errors.New("x"), ""), WrongUsage},
		"interrupted":                  {interrupted, context.Canceled, Interrupted},
		"interrupted while starting":   {interrupted, start, Interrupted},
		"timed out":                    {late, errors.New("rpc error: deadline"), TimedOut},
		"no directory":                 {running, directory, NotStarted},
		"anything else":                {running, errors.New("x"), NotStarted},
	} {
		var failure *Error
		require.ErrorAs(t, Explain(c.ctx, c.err), &failure, name)
		require.Equal(t, c.code, failure.Code, name)
	}
	var failure *Error
	require.ErrorAs(t, Explain(running, directory), &failure)
	require.Equal(t, "choose a directory that you can write to: --state-dir", failure.Hint)
	require.NoError(t, Explain(interrupted, nil))
}
