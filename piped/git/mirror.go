// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// cacheSize bounds the objects kept in memory for one repository.
const cacheSize = 16 * cache.MiByte

// mirror is the bare repository on disk that keeps the commits which were seen.
type mirror struct {
	dir    string
	name   name
	logger *slog.Logger
	// writing is the turn of whoever brings objects into the mirror, or cleans it up.
	writing turn
	loads   *loads

	// mu guards what follows. It is never held during a wait for a server.
	mu sync.Mutex
	// storage is not safe for concurrent use.
	storage *filesystem.Storage
	head    plumbing.Hash
	used    uses
}

// open prepares the directory: it finishes what a killed process has begun and saves what is whole of a damaged one.
func (m *mirror) open(ctx context.Context) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	if err := errors.Join(m.finishPruning(), checkPacks(m.dir, m.logger, m.setAside)); err != nil {
		return err
	}
	m.openStorage()
	if err := m.salvage(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.dir, "HEAD")); err == nil {
		m.readHead()
		return nil
	}
	_, err := gogit.InitWithOptions(m.storage, nil, gogit.InitOptions{DefaultBranch: m.branch()})
	if errors.Is(err, gogit.ErrRepositoryAlreadyExists) {
		return nil
	}
	return err
}

// openStorage opens the storage with empty caches.
func (m *mirror) openStorage() {
	files := osfs.New(m.dir, osfs.WithBoundOS())
	options := filesystem.Options{LargeObjectThreshold: largeObject}
	m.storage = filesystem.NewStorageWithOptions(files, cache.NewObjectLRU(cacheSize), options)
}

// readHead takes the head from the storage, if its commit is there.
func (m *mirror) readHead() {
	ref, err := m.storage.Reference(m.branch())
	if err == nil && m.storage.HasEncodedObject(ref.Hash()) == nil {
		m.head = ref.Hash()
		m.used.add(m.head)
	}
}

func (m *mirror) branch() plumbing.ReferenceName {
	return plumbing.NewBranchReferenceName(m.name.branch)
}

func (m *mirror) packDir() string { return filepath.Join(m.dir, "objects", "pack") }

// setHead moves the branch to the commit, also on disk for the next process, and marks that the history of the commit
// is not there, for Git's own programs.
func (m *mirror) setHead(head plumbing.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.add(head)
	if head == m.head {
		return
	}
	m.head = head
	err := m.storage.SetShallow([]plumbing.Hash{head})
	if err == nil {
		err = m.storage.SetReference(plumbing.NewHashReference(m.branch(), head))
	}
	if err != nil {
		m.logger.Debug("cannot note the head in the mirror", "error", err)
	}
}

// use reports whether the mirror has the commit, and remembers that it was used.
func (m *mirror) use(id plumbing.Hash) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.storage.HasEncodedObject(id) != nil {
		return false
	}
	m.used.add(id)
	return true
}

// has reports whether the mirror has the object.
func (m *mirror) has(id plumbing.Hash) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.storage.HasEncodedObject(id) == nil
}

// recent returns commits that the mirror has, the one used last first.
func (m *mirror) recent() []plumbing.Hash {
	m.mu.Lock()
	defer m.mu.Unlock()
	var haves []plumbing.Hash
	for _, id := range m.used.newest(maxUses) {
		if len(haves) < maxHaves && m.storage.HasEncodedObject(id) == nil {
			haves = append(haves, id)
		}
	}
	return haves
}

// view locks the mirror to read several objects, or to write some; done unlocks it.
func (m *mirror) view() (v *view, done func()) {
	m.mu.Lock()
	return &view{storage: m.storage, name: m.name, used: &m.used}, m.mu.Unlock
}
