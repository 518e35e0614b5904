// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// commits reads commits, bringing those into the mirror that only the origin has.
type commits struct {
	mirror *mirror
	origin origin
}

// ensure brings the commit into the mirror unless it is there. It may wait for a server.
func (c *commits) ensure(ctx context.Context, hash string) (plumbing.Hash, error) {
	if err := ctx.Err(); err != nil {
		return plumbing.ZeroHash, err
	}
	if !plumbing.IsHash(hash) {
		return plumbing.ZeroHash, c.mirror.name.noCommit(hash)
	}
	id := plumbing.NewHash(hash)
	if c.mirror.use(id) {
		return id, nil
	}
	if err := c.mirror.writing.take(ctx); err != nil {
		return plumbing.ZeroHash, err
	}
	defer c.mirror.writing.release()
	if c.mirror.use(id) { // another caller has brought it meanwhile
		return id, nil
	}
	err := c.origin.bring(ctx, id)
	switch {
	case err == nil && c.mirror.use(id):
		return id, nil
	case ctx.Err() != nil:
		return plumbing.ZeroHash, ctx.Err()
	case err != nil && !errors.Is(err, plumbing.ErrObjectNotFound):
		return plumbing.ZeroHash, err
	}
	return plumbing.ZeroHash, c.mirror.name.noCommit(hash)
}

func (c *commits) get(ctx context.Context, hash string) (Commit, error) {
	id, err := c.ensure(ctx, hash)
	if err != nil {
		return Commit{}, err
	}
	v, done := c.mirror.view()
	defer done()
	return v.commit(id)
}

func (c *commits) changedFiles(ctx context.Context, from, to string) ([]string, error) {
	after, err := c.ensure(ctx, to)
	if err != nil {
		return nil, err
	}
	before := plumbing.ZeroHash
	if from != "" {
		before, err = c.ensure(ctx, from)
		switch {
		case errors.Is(err, ErrNoCommit):
			c.mirror.logger.Warn(
				"the former commit is gone, every file counts as changed", "commit", from, "error", err,
			)
		case err != nil:
			return nil, err // a server that is away for a moment must not make everything look changed
		}
	}
	v, done := c.mirror.view()
	defer done()
	newTree, err := v.rootTree(after)
	if err != nil {
		return nil, err
	}
	var oldTree plumbing.Hash
	if !before.IsZero() {
		if oldTree, err = v.rootTree(before); err != nil {
			return nil, err
		}
	}
	d := &differ{ctx: ctx, view: v}
	if err := d.trees(oldTree, newTree, ""); err != nil {
		return nil, fmt.Errorf("compare commits %s and %s of repository %s: %w", from, to, v.name.id, err)
	}
	slices.Sort(d.paths)
	return d.paths, nil
}

func (c *commits) readFile(ctx context.Context, hash, name string) ([]byte, error) {
	id, err := c.ensure(ctx, hash)
	if err != nil {
		return nil, err
	}
	v, done := c.mirror.view()
	defer done()
	root, err := v.rootTree(id)
	if err != nil {
		return nil, err
	}
	entry, err := v.find(root, path.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: %w", name, hash, v.name.id, err)
	}
	if entry.Mode == filemode.Symlink {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: "+
			"it is a symbolic link, and only regular files are read; commit a copy of the file", name, hash, v.name.id)
	}
	if !isBlob(entry) {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: it is not a regular file", name, hash, v.name.id)
	}
	return v.blob(entry.Hash)
}

func (c *commits) findFiles(ctx context.Context, hash string, match func(path string) bool) ([]string, error) {
	id, err := c.ensure(ctx, hash)
	if err != nil {
		return nil, err
	}
	v, done := c.mirror.view()
	defer done()
	root, err := v.rootTree(id)
	if err != nil {
		return nil, err
	}
	var found []string
	err = v.walk(ctx, root, "", func(name string, entry object.TreeEntry) error {
		if entry.Mode != filemode.Submodule && match(name) {
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list files at commit %s of repository %s: %w", hash, v.name.id, err)
	}
	slices.Sort(found)
	return found, nil
}
