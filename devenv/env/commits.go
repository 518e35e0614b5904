// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/live"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// commitBranch is the branch that piped watches in place of the user's, and that moves from commit to commit.
type commitBranch struct {
	pointer    *live.Pointer
	commits    <-chan string
	repository *workspace.Repository
	components *components
	// advice is the next step for errors that bring none.
	advice string
}

// openCommits prepares the branch of an environment at the first of its commits.
func openCommits(ctx context.Context, e *Environment) (*commitBranch, error) {
	b := &commitBranch{
		commits: e.Commits, repository: e.repository.Load(), components: e.components, advice: e.seeLogs(),
	}
	var err error
	b.pointer, err = live.Point(ctx, b.repository.Root, b.repository.Branch, e.Workspace.Snapshots())
	if err != nil {
		return nil, &StartError{componentRepository, err, "correct what git reports, and run again"}
	}
	return b, b.next(ctx)
}

// follow moves the branch to each further commit until ctx ends.
func (b *commitBranch) follow(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := b.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next moves the branch to the next commit. It does nothing when ctx ends first.
func (b *commitBranch) next(ctx context.Context) error {
	var commit string
	select {
	case commit = <-b.commits:
	case <-ctx.Done():
		return nil
	}
	if err := b.pointer.Move(ctx, commit); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return &StartError{componentRepository, err, b.advice}
	}
	b.components.ready(componentRepository, fmt.Sprintf("%s, branch %s: commit %s is deployed", b.repository.Root,
		b.repository.Branch, line.Commit(commit)))
	return nil
}
