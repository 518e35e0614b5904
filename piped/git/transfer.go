// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// packFrom is the number of objects from which one pack is written instead of a file for each.
const packFrom = 200

// copyFrom copies one commit from another store. The mirror stays usable meanwhile; the caller has the turn to write.
func (m *mirror) copyFrom(ctx context.Context, from *objects, id plumbing.Hash) error {
	t := &transfer{from: from, has: m.has, seen: map[plumbing.Hash]bool{}}
	err := t.commit(ctx, id)
	if err != nil || len(t.missing) == 0 {
		return err
	}
	defer m.loads.add()
	single, packed := t.missing, []plumbing.Hash(nil)
	if len(t.missing) >= packFrom {
		if single, packed, err = divide(from, t.missing); err != nil {
			return err
		}
	}
	for _, hash := range single {
		if err := m.copyLoose(ctx, from, hash); err != nil {
			return err
		}
	}
	if len(packed) == 0 {
		return nil
	}
	return m.addPack(func(w io.Writer) error { return encode(&contextWriter{ctx, w}, from, packed) })
}

// divide takes large objects apart from others. Large ones are files, which need no other object to be complete.
func divide(from *objects, ids []plumbing.Hash) (large, others []plumbing.Hash, err error) {
	for _, id := range ids {
		size, err := from.EncodedObjectSize(id)
		if err != nil {
			return nil, nil, fmt.Errorf("read object %s: %w", id, err)
		}
		if size >= largeObject {
			large = append(large, id)
		} else {
			others = append(others, id)
		}
	}
	return large, others, nil
}

// transfer finds what one store has of a commit and another lacks. A tree is written after all that it holds, so
// a tree that is there is complete, and what two commits share is never read twice.
type transfer struct {
	from    *objects
	has     func(plumbing.Hash) bool
	missing []plumbing.Hash
	seen    map[plumbing.Hash]bool
}

// commit lists what is missing.
func (t *transfer) commit(ctx context.Context, id plumbing.Hash) error {
	if t.has(id) {
		return nil
	}
	commit, err := object.GetCommit(t.from, id)
	if err != nil {
		return fmt.Errorf("read commit: %w", err)
	}
	if err := t.tree(ctx, commit.TreeHash); err != nil {
		return err
	}
	t.missing = append(t.missing, id)
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
	return t.has(id)
}
