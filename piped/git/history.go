// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// history opens the objects of the repository with the whole history of two commits, which the mirror does not
// have. The repository of the user is read where it is; that of a server is fetched into a directory beside the
// mirror, which later calls bring up to date. Nobody else uses what is returned until release is called.
func (r *Repository) history(ctx context.Context, base, head plumbing.Hash, headBranch string) (_ *objects, release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if r.local != nil {
		from, err := r.localHistory(ctx, base, head)
		return from, func() {}, err
	}
	select { // somebody else may be fetching it
	case r.histories <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	release = func() { <-r.histories }
	from, err := r.fetchedHistory(ctx, base, head, headBranch)
	if err != nil {
		release()
		return nil, nil, err
	}
	return from, release, nil
}

func (r *Repository) localHistory(ctx context.Context, commits ...plumbing.Hash) (*objects, error) {
	if err := r.lockPacks(ctx); err != nil { // finding the directory changes nothing, opening it does
		return nil, err
	}
	err := r.local.open()
	dir := r.local.dir
	r.unlockPacks()
	if err != nil {
		return nil, err
	}
	from, err := openObjects(dir, newStorage(dir, "objects"))
	if err != nil {
		return nil, fmt.Errorf("find what git repository %s borrows objects from: %w", r.options.Remote, err)
	}
	for _, id := range commits {
		if from.HasEncodedObject(id) != nil {
			return nil, r.noCommit(id.String())
		}
	}
	return from, nil
}
