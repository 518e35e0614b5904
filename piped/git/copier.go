// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// copier brings the commits of a repository on this machine into the mirror.
type copier struct {
	// source is guarded by the turn to write into the mirror.
	source *local
	mirror *mirror
}

func (c *copier) look(ctx context.Context) (plumbing.Hash, error) {
	if err := c.mirror.writing.take(ctx); err != nil {
		return plumbing.ZeroHash, err
	}
	defer c.mirror.writing.release()
	last, _, _ := c.mirror.usage()
	head, err := c.source.head(last)
	if err == nil && !c.mirror.use(head) {
		err = c.copy(ctx, head)
	}
	return head, err
}

func (c *copier) bring(ctx context.Context, id plumbing.Hash) error {
	err := c.copy(ctx, id)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", plumbing.ErrObjectNotFound, err)
	}
	return err
}

// copy copies a commit and its tree. git gc may move objects at any moment, so what is not found is looked up once
// more with the packs read again.
func (c *copier) copy(ctx context.Context, id plumbing.Hash) error {
	l := c.source
	if err := l.open(); err != nil {
		return err
	}
	err := c.mirror.copyFrom(ctx, l.objects, id)
	if err != nil && ctx.Err() == nil {
		l.storage = nil
		if openErr := l.open(); openErr != nil {
			return openErr
		}
		err = c.mirror.copyFrom(ctx, l.objects, id)
	}
	if err != nil && ctx.Err() == nil && l.promisor != "" && errors.Is(err, plumbing.ErrObjectNotFound) {
		return l.problem(
			ErrDamaged, fmt.Sprintf("copy commit %s: %v; it is a partial clone: fetch what is missing with git -C %s "+
				"fetch --refetch --no-filter %s", id, err, l.path, l.promisor),
		)
	}
	if err != nil && ctx.Err() == nil && isDamage(err) {
		return l.problem(
			ErrDamaged, fmt.Sprintf("copy commit %s: %v; see what is missing: git -C %s fsck --full", id, err, l.path),
		)
	}
	if err != nil {
		return fmt.Errorf(
			"copy commit %s of git repository %s: %w; git fsck shows whether the repository is complete", id, l.remote,
			err,
		)
	}
	return nil
}

// isDamage distinguishes what the user's repository causes from what the mirror does, such as a full disk.
func isDamage(err error) bool {
	var damage *damageError
	return errors.Is(err, plumbing.ErrObjectNotFound) || errors.As(err, &damage)
}

// history reads the repository of the user where it is.
func (c *copier) history(
	ctx context.Context, base, head plumbing.Hash, _ string,
) (_ *objects, release func(), err error) {
	if err := c.mirror.writing.take(ctx); err != nil { // finding the directory changes nothing, opening it does
		return nil, nil, err
	}
	err = c.source.open()
	dir := c.source.dir
	c.mirror.writing.release()
	if err != nil {
		return nil, nil, err
	}
	from, err := openObjects(dir, newStorage(dir, "objects"))
	if err != nil {
		return nil, nil, fmt.Errorf("find what git repository %s borrows objects from: %w", c.source.remote, err)
	}
	for _, id := range []plumbing.Hash{base, head} {
		if from.HasEncodedObject(id) != nil {
			return nil, nil, c.mirror.name.noCommit(id.String())
		}
	}
	return from, func() {}, nil
}
