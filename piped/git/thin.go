// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// thinPrefix begins the names of the folders that thin packs are unpacked in.
const thinPrefix = "incoming-"

// addThinPack adds a pack whose objects may be written as differences to objects of the mirror. Git's server
// leaves out what a shallow client has only when it may send such a pack. The caller has the turn to write.
func (m *mirror) addThinPack(read io.Reader) (err error) {
	dir, err := os.MkdirTemp(m.dir, thinPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	side := newStorage(dir, "objects")
	unpacked := &thinObjects{EncodedObjectStorer: side, mirror: m, has: map[plumbing.Hash]bool{}}
	parser, err := packfile.NewParserWithStorage(packfile.NewScanner(read), unpacked)
	if err == nil {
		_, err = parser.Parse()
	}
	if err != nil {
		return fmt.Errorf("unpack what the server has sent: %w", err)
	}
	// What comes after the pack has to be read as well.
	if _, err := io.Copy(io.Discard, read); err != nil {
		return err
	}
	if len(unpacked.ids) == 0 {
		return nil
	}
	return m.addPack(func(w io.Writer) error { return encode(w, side, unpacked.ids) })
}

// encode writes objects as a pack.
func encode(w io.Writer, from storer.EncodedObjectStorer, ids []plumbing.Hash) error {
	if _, err := packfile.NewEncoder(w, from, false).Encode(ids, 0); err != nil {
		return fmt.Errorf("pack %d objects: %w", len(ids), err)
	}
	return nil
}

// thinObjects keeps what comes next to the mirror, and reads the rest from the mirror.
type thinObjects struct {
	storer.EncodedObjectStorer
	mirror *mirror
	ids    []plumbing.Hash
	has    map[plumbing.Hash]bool
}

// SetEncodedObject keeps an object.
func (t *thinObjects) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	id, err := t.EncodedObjectStorer.SetEncodedObject(o)
	if err == nil && !t.has[id] {
		t.has[id] = true
		t.ids = append(t.ids, id)
	}
	return id, err
}

// EncodedObject looks at both.
func (t *thinObjects) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	if t.has[id] {
		return t.EncodedObjectStorer.EncodedObject(kind, id)
	}
	return t.mirror.inMemory(kind, id)
}

// inMemory reads all of an object, since the mirror is locked only meanwhile.
func (m *mirror) inMemory(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, err := m.storage.EncodedObject(kind, id)
	if err != nil {
		return nil, err
	}
	reader, err := found.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	copied := &plumbing.MemoryObject{}
	copied.SetType(found.Type())
	_, err = copied.Write(content)
	return copied, err
}
