// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ErrLinks says that a checkout has symbolic links. Whether a link leads out depends on all that it passes,
// so such a checkout is made from the start.
var ErrLinks = errors.New("the commit has symbolic links")

// Advance turns a checkout of the commit from, in which nothing was changed, into one of the commit to, and
// writes only what differs. left is what the checkout has returned; the new list is returned. After an error,
// ErrLinks among them, the directory is of no use.
func (r *Repository) Advance(ctx context.Context, from, to, dir string, left []LeftOut) ([]LeftOut, error) {
	seen := r.repairer.repairs()
	left, err := r.commits.advance(ctx, from, to, dir, left)
	return left, r.repairer.repair(ctx, seen, err)
}

func (c *commits) advance(ctx context.Context, from, to, dir string, left []LeftOut) ([]LeftOut, error) {
	var ids [2]plumbing.Hash
	for i, hash := range []string{from, to} {
		id, err := c.ensure(ctx, hash)
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	v, done := c.mirror.view()
	defer done()
	a, err := newAdvance(ctx, v, ids[0], ids[1])
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
		a.root = root
		err = a.carryOut()
	}
	if err != nil {
		return nil, fmt.Errorf(
			"advance the checkout of repository %s in %s from commit %s to %s: %w", v.name.id, dir, from, to, err,
		)
	}
	for _, one := range left {
		if !a.touches(one.Path) {
			a.left = append(a.left, one)
		}
	}
	return a.left, nil
}

// advance is a checkout that removes before it writes.
type advance struct {
	checkout
	removed []string
	added   []addition
	touched map[string]bool
}

type addition struct {
	name  string
	entry object.TreeEntry
}

func newAdvance(ctx context.Context, v *view, from, to plumbing.Hash) (*advance, error) {
	before, err := v.rootTree(from)
	if err != nil {
		return nil, err
	}
	after, err := v.rootTree(to)
	if err != nil {
		return nil, err
	}
	err = v.walk(ctx, after, "", func(_ string, entry object.TreeEntry) error {
		if entry.Mode == filemode.Symlink {
			return ErrLinks
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a := &advance{checkout: checkout{ctx: ctx, view: v, buffer: make([]byte, 32<<10)}, touched: map[string]bool{}}
	return a, a.compare(before, after, "")
}

// compare lists what goes and what comes. Links of the former commit go with it.
func (a *advance) compare(before, after plumbing.Hash, prefix string) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	former, err := a.view.entries(before)
	if err != nil {
		return err
	}
	entries, err := a.view.entries(after)
	if err != nil {
		return err
	}
	old := make(map[string]object.TreeEntry, len(former))
	for _, entry := range former {
		old[entry.Name] = entry
	}
	for _, entry := range entries {
		if !safeName(entry.Name) {
			return fmt.Errorf(
				"the commit holds an entry named %q in %q, which no checkout may contain", entry.Name, prefix,
			)
		}
		was, there := old[entry.Name]
		delete(old, entry.Name)
		name := path.Join(prefix, entry.Name)
		switch {
		case there && was.Hash == entry.Hash && was.Mode == entry.Mode:
		case there && was.Mode == filemode.Dir && entry.Mode == filemode.Dir:
			if err := a.compare(was.Hash, entry.Hash, name); err != nil {
				return err
			}
		default:
			if there {
				a.removed = append(a.removed, name)
			}
			a.added = append(a.added, addition{name, entry})
			a.touched[name] = true
		}
	}
	for name := range old {
		name = path.Join(prefix, name)
		a.removed = append(a.removed, name)
		a.touched[name] = true
	}
	return nil
}

func (a *advance) carryOut() error {
	for _, name := range a.removed {
		if err := a.root.RemoveAll(name); err != nil {
			return err
		}
	}
	for _, one := range a.added {
		if err := a.entry(one.name, one.entry); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// touches reports whether the path, or a directory above it, went or came.
func (a *advance) touches(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if a.touched[name] {
			return true
		}
	}
	return false
}
