// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/live"
)

// openCommits prepares the branch that piped watches in place of the user's, at the first of the commits.
func (e *Environment) openCommits(ctx context.Context) error {
	repository := e.repository.Load()
	pointer, err := live.Point(ctx, repository.Root, repository.Branch, e.Workspace.Snapshots())
	if err != nil {
		return &StartError{componentRepository, err, "correct what git reports, and run again"}
	}
	e.pointer = pointer
	select {
	case commit := <-e.Commits:
		return e.move(ctx, commit)
	case <-ctx.Done():
		return nil
	}
}

// followCommits moves the branch to each further commit until ctx ends.
func (e *Environment) followCommits(ctx context.Context) error {
	for {
		select {
		case commit := <-e.Commits:
			if err := e.move(ctx, commit); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (e *Environment) move(ctx context.Context, commit string) error {
	if err := e.pointer.Move(ctx, commit); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return &StartError{componentRepository, err, e.seeLogs()}
	}
	repository := e.repository.Load()
	e.components.ready(componentRepository,
		fmt.Sprintf("%s, branch %s: commit %s is deployed", repository.Root, repository.Branch, line.Commit(commit)))
	return nil
}
