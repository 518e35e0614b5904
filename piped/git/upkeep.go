// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// bounds say when a mirror is cleaned up, and how far.
type bounds struct {
	// look is after how many commits that were brought the mirror is looked at.
	look int
	// packs and loose are how many small packs, and objects by themselves, are put together to one pack.
	packs, loose int
	// small is the size, in bytes, below which a pack is put together with others.
	small int64
	// prune is the size of all packs, in bytes, from which old commits are dropped.
	prune int64
	// keep is how many bytes of commits, unpacked, stay besides the head.
	keep int64
}

func defaultBounds() bounds {
	return bounds{look: 16, packs: 50, loose: 2000, small: 32 << 20, prune: 1 << 30, keep: 2 << 30}
}

// brought is called after objects were brought into the mirror.
func (r *Repository) brought() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loads++; r.loads >= r.bounds.look {
		r.loads = 0
		r.cleanUpSoon()
	}
}

func (r *Repository) cleanUpSoon() {
	select {
	case r.due <- struct{}{}:
	default: // One is waiting already.
	}
}

// keepClean cleans the mirror up when that is due, until ctx ends.
func (r *Repository) keepClean(ctx context.Context) {
	prune := r.bounds.prune
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.due:
		}
		seen := r.repairCount()
		size, err := r.cleanUp(ctx, prune)
		err = r.repair(ctx, seen, err)
		switch {
		case err != nil && ctx.Err() == nil:
			r.logger.Warn("cannot clean up the mirror; it stays usable and grows", "error", err)
		case size > 0:
			prune = max(r.bounds.prune, 2*size) // what has to stay may be that large
		}
	}
}

// cleanUp puts small packs and loose objects together, or drops old commits when the packs have that size. It
// returns the size after the latter. Nobody brings objects meanwhile; the mirror can be read. After a crash there
// are objects twice, or the next process drops the rest of the old commits.
func (r *Repository) cleanUp(ctx context.Context, prune int64) (size int64, err error) {
	if err := r.lockPacks(ctx); err != nil {
		return 0, err
	}
	defer r.unlockPacks()
	packs, err := listPacks(r.packDir())
	if err != nil {
		return 0, fmt.Errorf("list packs: %w", err)
	}
	// A storage of its own: reading takes long, and r.mirror has to be free.
	c := &cleaning{ctx: ctx, r: r, from: newStorage(r.options.Dir, "objects")}
	if err := c.from.ForEachObjectHash(func(id plumbing.Hash) error { c.loose = append(c.loose, id); return nil }); err != nil {
		return 0, fmt.Errorf("list loose objects: %w", err)
	}
	var small []packFile
	for _, pack := range packs {
		size += pack.size
		if pack.size < r.bounds.small {
			small = append(small, pack)
		}
	}
	switch {
	case size >= prune:
		if err := c.prune(packs); err != nil {
			return 0, fmt.Errorf("drop old commits: %w", err)
		}
		return packedSize(r.packDir())
	case len(small) > r.bounds.packs || len(c.loose) > r.bounds.loose:
		if err := c.gather(small); err != nil {
			return 0, fmt.Errorf("put packs together: %w", err)
		}
	}
	return 0, nil
}

func packedSize(dir string) (size int64, err error) {
	packs, err := listPacks(dir)
	for _, pack := range packs {
		size += pack.size
	}
	return max(size, 1), err
}

// cleaning is one clean-up.
type cleaning struct {
	ctx   context.Context
	r     *Repository
	from  *filesystem.Storage
	loose []plumbing.Hash
}

// gather makes one pack of several and of the loose objects.
func (c *cleaning) gather(packs []packFile) error {
	seen := map[plumbing.Hash]bool{}
	ids := slices.Clone(c.loose)
	for _, pack := range packs {
		list, err := objectsOf(c.r.packDir(), pack.id)
		if err != nil {
			return err
		}
		ids = append(ids, list...)
	}
	ids = slices.DeleteFunc(ids, func(id plumbing.Hash) bool {
		twice := seen[id]
		seen[id] = true
		return twice
	})
	return c.replace(packs, ids, nil)
}

// prune makes one pack of the commits that stay: the head, those used last, and then the newest.
func (c *cleaning) prune(packs []packFile) error {
	c.r.mu.Lock()
	head, used, count := c.r.head, c.r.used.newest(maxUses), c.r.used.count
	c.r.mu.Unlock()
	order, err := c.order(head, used)
	if err != nil {
		return err
	}
	k := &keeper{c: c, has: map[plumbing.Hash]bool{}}
	commits := map[plumbing.Hash]bool{}
	for _, id := range order {
		if k.size > c.r.bounds.keep {
			break
		}
		bound := c.r.bounds.keep
		if id == head {
			bound = -1
		}
		kept, err := k.commit(id, bound)
		if err != nil {
			return err
		}
		commits[id] = kept
	}
	return c.replace(packs, k.ids, func() error { return c.r.usedSince(count, commits) })
}

// usedSince refuses when a commit that does not stay was used after so many uses. The caller holds mu.
func (r *Repository) usedSince(count uint64, stay map[plumbing.Hash]bool) error {
	for id, at := range r.used.at {
		if at > count && !stay[id] {
			return fmt.Errorf("commit %s was used meanwhile; it is tried again later", id)
		}
	}
	return nil
}

// order lists all commits, those first that stay first.
func (c *cleaning) order(head plumbing.Hash, used []plumbing.Hash) ([]plumbing.Hash, error) {
	type dated struct {
		id plumbing.Hash
		at time.Time
	}
	var all []dated
	commits, err := c.from.IterEncodedObjects(plumbing.CommitObject)
	if err != nil {
		return nil, err
	}
	there := map[plumbing.Hash]bool{}
	err = object.NewCommitIter(c.from, commits).ForEach(func(commit *object.Commit) error {
		if !there[commit.Hash] {
			all = append(all, dated{commit.Hash, commit.Committer.When})
		}
		there[commit.Hash] = true
		return c.ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b dated) int { return cmp.Or(b.at.Compare(a.at), bytes.Compare(a.id[:], b.id[:])) })
	var order []plumbing.Hash
	add := func(id plumbing.Hash) {
		if there[id] {
			order = append(order, id)
			delete(there, id)
		}
	}
	add(head)
	for _, id := range used {
		add(id)
	}
	for _, one := range all {
		add(one.id)
	}
	return order, nil
}

// keeper collects what commits need.
type keeper struct {
	c   *cleaning
	ids []plumbing.Hash
	has map[plumbing.Hash]bool
	// size counts what is besides the head, unpacked, in bytes.
	size int64
}

var errTooLarge = errors.New("too large")

// commit adds a commit with its files, unless that passes the bound; a negative one is none, and counts nothing.
func (k *keeper) commit(id plumbing.Hash, bound int64) (kept bool, err error) {
	commit, err := object.GetCommit(k.c.from, id)
	if err != nil {
		return false, readError("commit", id, err)
	}
	before, size := len(k.ids), k.size
	k.add(id)
	err = k.tree(commit.TreeHash, bound)
	if err == nil {
		return true, nil
	}
	for _, id := range k.ids[before:] {
		delete(k.has, id)
	}
	k.ids, k.size = k.ids[:before], size
	if errors.Is(err, errTooLarge) {
		return false, nil
	}
	return false, err
}

func (k *keeper) add(id plumbing.Hash) bool {
	if k.has[id] {
		return false
	}
	k.has[id] = true
	k.ids = append(k.ids, id)
	return true
}

func (k *keeper) tree(id plumbing.Hash, bound int64) error {
	if !k.add(id) {
		return nil
	}
	if err := k.c.ctx.Err(); err != nil {
		return err
	}
	tree, err := object.GetTree(k.c.from, id)
	if err != nil {
		return readError("tree", id, err)
	}
	for _, entry := range tree.Entries {
		switch {
		case entry.Mode == filemode.Submodule:
			continue
		case entry.Mode == filemode.Dir:
			err = k.tree(entry.Hash, bound)
		case k.add(entry.Hash) && bound >= 0:
			var size int64
			size, err = k.c.from.EncodedObjectSize(entry.Hash)
			if err = readError("object", entry.Hash, err); err == nil {
				if k.size += size; k.size > bound {
					err = errTooLarge
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace writes one pack of the objects and then, unless check refuses, removes the packs and the loose objects.
func (c *cleaning) replace(packs []packFile, ids []plumbing.Hash, check func() error) error {
	if len(ids) == 0 {
		return nil
	}
	var written plumbing.Hash
	err := c.r.addPack(func(w io.Writer) (err error) {
		written, err = packfile.NewEncoder(&interruptible{c.ctx, w}, c.from, false).Encode(ids, 0)
		return readError("objects up to", ids[len(ids)-1], err)
	})
	if err != nil {
		return err
	}
	packs = slices.DeleteFunc(packs, func(pack packFile) bool { return pack.id == written })
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if check != nil {
		if err := check(); err != nil {
			return err
		}
		if err := c.r.beginPruning(written); err != nil {
			return err
		}
	}
	for _, id := range c.loose {
		err = errors.Join(err, c.r.mirror.DeleteLooseObject(id))
	}
	err = errors.Join(err, removePacks(c.r.packDir(), c.r.mirror, packs))
	if err == nil && check != nil {
		err = c.r.endPruning()
	}
	return err
}

// interruptible is a writer that fails when ctx ends.
type interruptible struct {
	ctx context.Context
	w   io.Writer
}

// Write writes on.
func (i *interruptible) Write(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.w.Write(p)
}
