// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Ancestor returns the commit in the history of head, which Update has returned, whose hash begins with prefix, and
// brings it into the mirror. head itself belongs to its history.
//
// The error is a *RepositoryError when the history has no such commit or more than one, or when a part of the history
// is missing.
func (r *Repository) Ancestor(ctx context.Context, head, prefix string) (Commit, error) {
	h := &history{mirror: r.mirror, origin: r.origin}
	return retried(ctx, r.repairer, func() (Commit, error) { return h.ancestor(ctx, head, strings.ToLower(prefix)) })
}

// history looks for commits in the history of a branch.
type history struct {
	mirror *mirror
	origin origin
}

func (h *history) ancestor(ctx context.Context, head, prefix string) (Commit, error) {
	if !plumbing.IsHash(head) {
		return Commit{}, h.mirror.name.noCommit(head)
	}
	newest := plumbing.NewHash(head)
	from, release, err := h.origin.history(ctx, newest, newest, "")
	if err != nil {
		return Commit{}, err
	}
	defer release()
	id, err := h.find(ctx, from, newest, prefix)
	if err != nil {
		return Commit{}, err
	}
	if err := h.mirror.writing.take(ctx); err != nil {
		return Commit{}, err
	}
	defer h.mirror.writing.release()
	if err := h.mirror.copyFrom(ctx, from, id); err != nil {
		return Commit{}, fmt.Errorf("copy commit %s of repository %s: %w", id, h.mirror.name.id, err)
	}
	h.mirror.use(id)
	v, done := h.mirror.view()
	defer done()
	return v.commit(id)
}

// find walks the history until the hash is found; all of it for the beginning of one, which must be unique.
func (h *history) find(ctx context.Context, from *objects, head plumbing.Hash, prefix string) (plumbing.Hash, error) {
	newest, err := object.GetCommit(from, head)
	if err != nil {
		return plumbing.ZeroHash, h.mirror.name.noCommit(head.String())
	}
	var found []plumbing.Hash
	err = object.NewCommitPreorderIter(newest, nil, nil).ForEach(func(c *object.Commit) error {
		if strings.HasPrefix(c.Hash.String(), prefix) {
			found = append(found, c.Hash)
		}
		if len(found) > 1 || len(found) == 1 && plumbing.IsHash(prefix) {
			return storer.ErrStop
		}
		return ctx.Err()
	})
	name := h.mirror.name
	switch {
	case ctx.Err() != nil:
		return plumbing.ZeroHash, ctx.Err()
	case len(found) > 1:
		return plumbing.ZeroHash, name.problem(ErrAmbiguous,
			fmt.Sprintf("%q fits several commits of branch %s: write more of the hash", prefix, name.branch))
	case len(found) == 1:
		return found[0], nil
	case err == nil:
		return plumbing.ZeroHash, name.problem(ErrNoCommit,
			fmt.Sprintf("%q is not in the history of branch %s", prefix, name.branch))
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return plumbing.ZeroHash, name.problem(ErrNoHistory, incomplete)
	default:
		return plumbing.ZeroHash, fmt.Errorf("read the history of branch %s of repository %s: %w", name.branch, name.id,
			err)
	}
}
