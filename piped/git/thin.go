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
// leaves out what a shallow client has only when it may send such a pack. The caller holds the packs.
func (r *Repository) addThinPack(read io.Reader) (err error) {
	dir, err := os.MkdirTemp(r.options.Dir, thinPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	side := newStorage(dir, "objects")
	unpacked := &thinObjects{EncodedObjectStorer: side, r: r, has: map[plumbing.Hash]bool{}}
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
	return r.addPack(func(w io.Writer) error { return encode(w, side, unpacked.ids) })
}

// encode writes objects as a pack.
func encode(w io.Writer, from storer.EncodedObjectStorer, ids []plumbing.Hash) error {
	if _, err := packfile.NewEncoder(w, from, false).Encode(ids, 0); err != nil {
		return fmt.Errorf("pack %d objects: %w", len(ids), err)
	}
	return nil
}

// thinObjects keeps what comes beside the mirror, and looks in the mirror for the rest.
type thinObjects struct {
	storer.EncodedObjectStorer
	r   *Repository
	ids []plumbing.Hash
	has map[plumbing.Hash]bool
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

// EncodedObject looks at both. An object of the mirror is read at once, since the mirror is held only meanwhile.
func (t *thinObjects) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	if t.has[id] {
		return t.EncodedObjectStorer.EncodedObject(kind, id)
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	found, err := t.r.mirror.EncodedObject(kind, id)
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
