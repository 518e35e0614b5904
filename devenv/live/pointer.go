// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"path/filepath"
)

// Pointer is a branch that its owner moves from commit to commit of the user's repository, in a bare repository that
// borrows the user's objects. Its methods are for one goroutine.
type Pointer struct {
	dir, branch string
	store       program
}

// Point prepares the repository of a Pointer in dir, which only one Tree or Pointer may use at a time. root is the top
// of the user's working tree, absolute; branch is the name of the branch, which has no commit before the first Move.
func Point(ctx context.Context, root, branch, dir string) (*Pointer, error) {
	user, err := newProgram(root)
	if err != nil {
		return nil, err
	}
	objects, err := user.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, fmt.Errorf("find the repository of %s: %w", root, err)
	}
	p := &Pointer{dir: dir, branch: branch, store: user.with("GIT_DIR=" + dir)}
	p.store.dir = filepath.Dir(dir)
	return p, makeStore(ctx, p.store, dir, branch, objects)
}

// Repository is the path of the repository for piped to watch.
func (p *Pointer) Repository() string { return p.dir }

// Move moves the branch to a commit of the user's repository.
func (p *Pointer) Move(ctx context.Context, commit string) error {
	_, err := p.store.run(ctx, "", "update-ref", "refs/heads/"+p.branch, commit)
	return err
}
