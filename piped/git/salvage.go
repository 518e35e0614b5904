// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// damagedFolder holds the objects of a damaged mirror until the whole ones are saved from it.
const damagedFolder = "objects-damaged"

// rebuild sets the objects of the mirror aside and brings those back that are whole: a commit may have been removed
// from the remote. The caller has the turn to write. After an error the mirror holds less, and the next process saves
// the rest.
func (m *mirror) rebuild(ctx context.Context) error {
	m.mu.Lock()
	err := m.setAside()
	m.openStorage()
	m.head = plumbing.ZeroHash
	m.mu.Unlock()
	if err == nil {
		err = m.salvage(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readHead()
	return err
}

// setAside moves the objects of the mirror to the folder for damaged ones.
func (m *mirror) setAside() error {
	aside := filepath.Join(m.dir, damagedFolder)
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	objects := filepath.Join(m.dir, "objects")
	if err := os.Rename(objects, aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.MkdirAll(m.packDir(), 0o755) //nolint:gosec // as Git does
}

// salvage brings the whole objects that were set aside, if any, into the mirror, and removes the others. The caller
// has the turn to write.
func (m *mirror) salvage(ctx context.Context) error {
	aside := filepath.Join(m.dir, damagedFolder)
	if _, err := os.Stat(aside); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	ids, err := idsIn(aside)
	if err != nil {
		return fmt.Errorf("list the objects of the damaged mirror: %w", err)
	}
	s := &salvager{ctx: ctx, from: newStorage(m.dir, damagedFolder), whole: map[plumbing.Hash]bool{}}
	var keep []plumbing.Hash
	for id := range ids {
		whole, err := s.check(id)
		if err != nil {
			return fmt.Errorf("check object %s of the damaged mirror: %w", id, err)
		}
		if whole {
			keep = append(keep, id)
		}
	}
	if len(keep) > 0 {
		if err := m.addPack(
			func(w io.Writer) error { return encode(&contextWriter{ctx, w}, s.from, keep) },
		); err != nil {
			return fmt.Errorf("keep the whole objects of the damaged mirror: %w", err)
		}
	}
	m.logger.Info("kept the whole objects of the damaged mirror", "kept", len(keep), "dropped", len(ids)-len(keep))
	return os.RemoveAll(aside)
}

// idsIn returns the names of all objects in a folder, and removes packs whose ends or indexes are damaged.
func idsIn(objects string) (map[plumbing.Hash]bool, error) {
	ids := map[plumbing.Hash]bool{}
	loose, err := filepath.Glob(filepath.Join(objects, "[0-9a-f][0-9a-f]", "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range loose {
		if id := filepath.Base(filepath.Dir(name)) + filepath.Base(name); plumbing.IsHash(id) {
			ids[plumbing.NewHash(id)] = true
		}
	}
	dir := filepath.Join(objects, "pack")
	packs, err := listPacks(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, pack := range packs {
		name := filepath.Join(dir, packPrefix+pack.id.String())
		list, err := objectsOf(dir, pack.id)
		if err != nil || !wholePack(name) {
			if err := errors.Join(os.Remove(name+packSuffix), os.RemoveAll(name+idxSuffix)); err != nil {
				return nil, err
			}
			continue
		}
		for _, id := range list {
			ids[id] = true
		}
	}
	return ids, nil
}

// salvager checks objects with all that they need, without the history.
type salvager struct {
	ctx   context.Context
	from  *filesystem.Storage
	whole map[plumbing.Hash]bool
}

// check reports whether the object and all that it needs are whole. An error says that they cannot be read now.
func (s *salvager) check(id plumbing.Hash) (whole bool, err error) {
	if whole, known := s.whole[id]; known {
		return whole, nil
	}
	if err := s.ctx.Err(); err != nil {
		return false, err
	}
	needs, err := s.read(id)
	if err != nil {
		if isSystemError(err) {
			return false, err
		}
		s.whole[id] = false
		return false, nil
	}
	for _, need := range needs {
		if whole, err := s.check(need); err != nil || !whole {
			s.whole[id] = false
			return false, err
		}
	}
	s.whole[id] = true
	return true, nil
}

// read reads one object, compares its content with its name, and returns what it needs.
func (s *salvager) read(id plumbing.Hash) (needs []plumbing.Hash, err error) {
	found, err := s.from.EncodedObject(plumbing.AnyObject, id)
	if err != nil {
		return nil, err
	}
	reader, err := found.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	name := plumbing.NewHasher(found.Type(), found.Size())
	if _, err := io.Copy(name, &contextReader{s.ctx, reader}); err != nil {
		return nil, err
	}
	if name.Sum() != id {
		return nil, fmt.Errorf("its content has the name %s", name.Sum())
	}
	switch found.Type() {
	case plumbing.CommitObject:
		commit, err := object.DecodeCommit(s.from, found)
		if err != nil {
			return nil, err
		}
		return []plumbing.Hash{commit.TreeHash}, nil
	case plumbing.TreeObject:
		tree := &object.Tree{}
		if err := tree.Decode(found); err != nil {
			return nil, err
		}
		for _, entry := range tree.Entries {
			if entry.Mode != filemode.Submodule {
				needs = append(needs, entry.Hash)
			}
		}
	}
	return needs, nil
}
