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
	// look is after how many loads the mirror is inspected.
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

// cleaner cleans a mirror up.
type cleaner struct {
	mirror   *mirror
	repairer *repairer
	bounds   bounds
}

// run cleans the mirror up when that is due, until ctx ends.
func (c *cleaner) run(ctx context.Context) {
	prune := c.bounds.prune
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.mirror.loads.due:
		}
		seen := c.repairer.repairs()
		size, err := c.cleanUp(ctx, prune)
		err = c.repairer.repair(ctx, seen, err)
		switch {
		case err != nil && ctx.Err() == nil:
			c.mirror.logger.Warn("cannot clean up the mirror; it stays usable and grows", "error", err)
		case size > 0:
			prune = max(c.bounds.prune, 2*size) // what has to stay may be that large
		}
	}
}

// cleanUp puts small packs and loose objects together, or drops old commits when the packs have that size. It
// returns the size after the latter. It holds the turn to write; the mirror can be read. After a crash there are
// objects twice, or the next process drops the rest of the old commits.
func (c *cleaner) cleanUp(ctx context.Context, prune int64) (size int64, err error) {
	m := c.mirror
	if err := m.writing.take(ctx); err != nil {
		return 0, err
	}
	defer m.writing.release()
	packs, err := listPacks(m.packDir())
	if err != nil {
		return 0, fmt.Errorf("list packs: %w", err)
	}
	// A separate storage: reading takes long, and that of the mirror has to be free.
	run := &cleaning{ctx: ctx, mirror: m, bounds: c.bounds, from: newStorage(m.dir, "objects")}
	if err := run.from.ForEachObjectHash(
		func(id plumbing.Hash) error { run.loose = append(run.loose, id); return nil },
	); err != nil {
		return 0, fmt.Errorf("list loose objects: %w", err)
	}
	var small []packFile
	for _, pack := range packs {
		size += pack.size
		if pack.size < c.bounds.small {
			small = append(small, pack)
		}
	}
	switch {
	case size >= prune:
		if err := run.prune(packs); err != nil {
			return 0, fmt.Errorf("drop old commits: %w", err)
		}
		return packedSize(m.packDir())
	case len(small) > c.bounds.packs || len(run.loose) > c.bounds.loose:
		if err := run.gather(small); err != nil {
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
	ctx    context.Context
	mirror *mirror
	bounds bounds
	from   *filesystem.Storage
	loose  []plumbing.Hash
}

// gather makes one pack of several and of the loose objects.
func (c *cleaning) gather(packs []packFile) error {
	seen := map[plumbing.Hash]bool{}
	ids := slices.Clone(c.loose)
	for _, pack := range packs {
		list, err := objectsOf(c.mirror.packDir(), pack.id)
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
	head, used, count := c.mirror.usage()
	order, err := c.order(head, used)
	if err != nil {
		return err
	}
	k := &keeper{c: c, has: map[plumbing.Hash]bool{}}
	commits := map[plumbing.Hash]bool{}
	for _, id := range order {
		if k.size > c.bounds.keep {
			break
		}
		bound := c.bounds.keep
		if id == head {
			bound = -1
		}
		kept, err := k.commit(id, bound)
		if err != nil {
			return err
		}
		commits[id] = kept
	}
	return c.replace(packs, k.ids, func() error { return c.mirror.usedSince(count, commits) })
}

// usage returns the head, the commits used last, and the number of uses so far.
func (m *mirror) usage() (head plumbing.Hash, used []plumbing.Hash, count uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head, m.used.newest(maxUses), m.used.count
}

// usedSince refuses when a commit that does not stay was used after so many uses. The caller holds mu.
func (m *mirror) usedSince(count uint64, stay map[plumbing.Hash]bool) error {
	for id, at := range m.used.at {
		if at > count && !stay[id] {
			return fmt.Errorf("commit %s was used meanwhile; piped cleans up later", id)
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
	err := c.mirror.addPack(func(w io.Writer) (err error) {
		written, err = packfile.NewEncoder(&interruptible{c.ctx, w}, c.from, false).Encode(ids, 0)
		return readError("objects up to", ids[len(ids)-1], err)
	})
	if err != nil {
		return err
	}
	packs = slices.DeleteFunc(packs, func(pack packFile) bool { return pack.id == written })
	return c.mirror.discard(written, packs, c.loose, check)
}

// discard removes packs and loose objects that the written pack replaces. With a check, which is called while the
// mirror is locked, they hold more than that pack, and the next process finishes what this one begins.
func (m *mirror) discard(
	written plumbing.Hash, packs []packFile, loose []plumbing.Hash, check func() error,
) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if check != nil {
		if err := check(); err != nil {
			return err
		}
		if err := m.beginPruning(written); err != nil {
			return err
		}
	}
	for _, id := range loose {
		err = errors.Join(err, m.storage.DeleteLooseObject(id))
	}
	err = errors.Join(err, removePacks(m.packDir(), m.storage, packs))
	if err == nil && check != nil {
		err = m.endPruning()
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
