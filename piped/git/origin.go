// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"

	"github.com/go-git/go-git/v5/plumbing"
)

// origin is where the commits of a mirror come from.
type origin interface {
	// look brings the newest commit of the branch into the mirror and returns it.
	look(ctx context.Context) (plumbing.Hash, error)
	// bring brings one commit into the mirror, while the caller has its turn to write. The error is
	// plumbing.ErrObjectNotFound when the origin does not give the commit.
	bring(ctx context.Context, id plumbing.Hash) error
	// history opens the objects with the whole history of two commits, which the mirror does not have. No one else
	// uses what is returned until release is called. headBranch helps to find head.
	history(ctx context.Context, base, head plumbing.Hash, headBranch string) (from *objects, release func(), err error)
}

var (
	_ origin = (*fetcher)(nil)
	_ origin = (*copier)(nil)
)
