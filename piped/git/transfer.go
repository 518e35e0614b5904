// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// packFrom is the number of objects from which one pack is written instead of a file for each.
const packFrom = 200

// transfer copies one commit between object stores. A tree is written after all that it holds, so a tree
// that is there is complete, and what two commits share is never looked at twice.
type transfer struct {
	from    *objects
	to      *filesystem.Storage
	missing []plumbing.Hash
	seen    map[plumbing.Hash]bool
}

func (t *transfer) commit(ctx context.Context, id plumbing.Hash) error {
	if t.to.HasEncodedObject(id) == nil {
		return nil
	}
	commit, err := object.GetCommit(t.from, id)
	if err != nil {
		return fmt.Errorf("read commit: %w", err)
	}
	t.seen = map[plumbing.Hash]bool{}
	if err := t.tree(ctx, commit.TreeHash); err != nil {
		return err
	}
	t.missing = append(t.missing, id)
	if len(t.missing) >= packFrom {
		return t.writePack()
	}
	for _, hash := range t.missing {
		if err := t.writeLoose(hash); err != nil {
			return err
		}
	}
	return nil
}

// tree lists what the tree holds and the mirror lacks, children before parents.
func (t *transfer) tree(ctx context.Context, id plumbing.Hash) error {
	if t.known(id) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tree, err := object.GetTree(t.from, id)
	if err != nil {
		return fmt.Errorf("read tree %s: %w", id, err)
	}
	for _, entry := range tree.Entries {
		switch entry.Mode {
		case filemode.Submodule: // A commit of another repository.
		case filemode.Dir:
			if err := t.tree(ctx, entry.Hash); err != nil {
				return err
			}
		default:
			if !t.known(entry.Hash) {
				t.missing = append(t.missing, entry.Hash)
			}
		}
	}
	t.missing = append(t.missing, id)
	return nil
}

// known reports whether the object needs no copying, and remembers it.
func (t *transfer) known(id plumbing.Hash) bool {
	if t.seen[id] {
		return true
	}
	t.seen[id] = true
	return t.to.HasEncodedObject(id) == nil
}

func (t *transfer) writeLoose(id plumbing.Hash) error {
	content, err := t.from.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return fmt.Errorf("read object %s: %w", id, err)
	}
	written, err := t.to.SetEncodedObject(content)
	if err != nil {
		return fmt.Errorf("write object %s: %w", id, err)
	}
	if written != id {
		return fmt.Errorf("object %s is damaged: its content has the name %s", id, written)
	}
	return nil
}

func (t *transfer) writePack() error {
	writer, err := t.to.PackfileWriter()
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	_, err = packfile.NewEncoder(writer, t.from, false).Encode(t.missing, 0)
	if err := errors.Join(err, writer.Close()); err != nil {
		return fmt.Errorf("write pack of %d objects: %w", len(t.missing), err)
	}
	return nil
}
